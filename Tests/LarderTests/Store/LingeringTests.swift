import Foundation
import Testing

@testable import Larder

@Suite(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
struct LingeringTests {
  /// What is done to one, with what it answers.
  private struct Trial {
    private var lingering = Lingering()

    /// The thread becomes idle.
    mutating func begins(behindOne: Bool = true) -> Bool {
      lingering.begin(behindOne: behindOne, at: 0)
    }

    /// A job comes, as long after that.
    mutating func isCalled(after nanoseconds: UInt64) -> Bool {
      let answer = lingering.call(at: nanoseconds)
      #expect(answer == lingering.isCalled)
      return answer
    }

    mutating func ends() -> Bool { lingering.end() }
  }

  private let soon = Lingering.nanoseconds - 1
  private let late = Lingering.nanoseconds

  @Test("the queue's thread lingers behind a lone job once the one after it has come soon")
  func soonEnough() {
    var trial = Trial()

    let answers = [
      trial.begins(), trial.isCalled(after: soon), trial.begins(), trial.isCalled(after: soon),
      trial.ends(), trial.begins(), trial.ends(),
    ]

    // The first job that comes soon finds nobody, and the second one somebody; the last end was in
    // vain.
    #expect(answers == [false, false, true, true, false, true, true])
  }

  @Test("it does not linger where the last job came late, nor behind several")
  func tooLate() {
    var trial = Trial()
    _ = (trial.begins(), trial.isCalled(after: soon))

    let answers = [
      trial.begins(behindOne: false), trial.isCalled(after: soon), trial.begins(),
      trial.isCalled(after: late), trial.ends(), trial.begins(),
    ]

    #expect(answers == [false, false, true, true, false, false])
  }

  @Test("a thread that takes the free line sends away who lingers, and the next job needs a thread")
  func sentAway() {
    var trial = Trial()
    _ = (trial.begins(), trial.isCalled(after: soon))

    let answers = [trial.begins(), trial.ends(), trial.isCalled(after: soon), trial.ends()]

    #expect(answers == [true, true, false, false])
  }
}
