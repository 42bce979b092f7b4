import LarderTestKit
import Synchronization
import Testing

@testable import LarderLMDB

@Suite("readers at rest")
struct IdleReadersTests {
  let folder = TestFolder()

  @Test("readers that nobody has used for a while give their slots back, and others stay")
  func idle() throws {
    let environment = try Environment.open(at: folder.store)
    // Nobody else ends them.
    environment.looksForIdleReaders.store(true, ordering: .relaxed)
    func slots() throws -> Int { try environment.readers().count }
    do {
      let snapshots = Held()
      for _ in 0..<8 { snapshots.add(try environment.beginRead()) }
      #expect(try slots() == 8)
    }
    #expect(try slots() == 8)

    #expect(environment.endIdleReaders())
    #expect(try slots() == 8)
    #expect(try environment.read("a") == nil)
    #expect(environment.endIdleReaders())
    #expect(try slots() == 1)
    #expect(!environment.endIdleReaders())
    #expect(try slots() == 0)
    #expect(try environment.read("a") == nil)
    #expect(try slots() == 1)
  }

  @Test("a reader at rest makes way where no slot is left")
  func full() throws {
    var options = Environment.Options()
    options.maximumReaderCount = 2
    let environment = try Environment.open(at: folder.store, options: options)
    for _ in 0..<10 {
      let one = try environment.beginRead()
      let two = try environment.beginRead()
      _ = (one.id, two.id)
    }
    // Databases are opened with a reader of their own.
    #expect(try environment.database(named: "missing", create: false) == nil)
  }

  private final class Held {
    private var one: ReadTransaction?
    private var rest: Held?

    func add(_ transaction: consuming ReadTransaction) {
      let held = Held()
      swap(&held.one, &one)
      held.rest = rest
      rest = held
      one = consume transaction
    }
  }
}
