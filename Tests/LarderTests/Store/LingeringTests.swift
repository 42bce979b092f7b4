import Foundation
import Testing

@testable import Larder

@Suite(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
struct LingeringTests {
  private let soon = Lingering.nanoseconds - 1
  private let late = Lingering.nanoseconds

  @Test("the queue's thread lingers behind a lone job once the one after it has come soon")
  func soonEnough() {
    var lingering = Lingering()

    #expect(!lingering.begin(behindOne: true, at: 0))
    #expect(!lingering.call(at: soon))
    #expect(lingering.begin(behindOne: true, at: 0))
    #expect(!lingering.isCalled)
    #expect(lingering.call(at: soon))
    #expect(lingering.isCalled)
    #expect(!lingering.end())
    #expect(lingering.begin(behindOne: true, at: 0))
    // In vain.
    #expect(lingering.end())
  }

  @Test("it does not linger where the last job came late, nor behind several")
  func tooLate() {
    var lingering = Lingering()
    _ = lingering.begin(behindOne: true, at: 0)
    _ = lingering.call(at: soon)

    #expect(!lingering.begin(behindOne: false, at: 0))
    #expect(!lingering.call(at: soon))
    #expect(lingering.begin(behindOne: true, at: 0))
    #expect(lingering.call(at: late))
    _ = lingering.end()
    #expect(!lingering.begin(behindOne: true, at: 0))
  }

  @Test("a thread that takes the free line sends away who lingers, and the next job needs a thread")
  func sentAway() {
    var lingering = Lingering()
    _ = lingering.begin(behindOne: true, at: 0)
    _ = lingering.call(at: soon)
    #expect(lingering.begin(behindOne: true, at: 0))

    #expect(lingering.end())
    #expect(!lingering.call(at: soon))
    #expect(!lingering.end())
  }
}
