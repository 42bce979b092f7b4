import Foundation
import Larder
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct SharedStoreTests {
  let folder = TestFolder()

  @Test("what two and three processes save at once is all there", arguments: [2, 3])
  func writersAtOnce(processCount: Int) throws {
    let batches = 60
    let writers = try (1...processCount).map {
      try OtherProcess("hammer", folder.store, "\($0)", "\(batches)")
    }
    for writer in writers { _ = try writer.expect("open") }
    for writer in writers { writer.goOn() }
    let lines = writers.map { $0.lines() }

    let store = try Store(at: folder.store)
    var found: [Substring: Int] = [:]
    for note in try store.repository(of: Note.self).fetch(Note.all) {
      found[note.nonce[...], default: 0] += 1
    }
    for (number, lines) in zip(1..., lines) {
      #expect(lines.last == "done")
      let saved = lines.dropLast().map { $0.split(separator: " ")[1] }
      #expect(saved.count == batches)
      #expect(saved.allSatisfy { found[$0] == 3 })
      #expect(try store.collection("own-\(number)").count() == batches)
      let last = try store.collection("shared").get(.string("\(number)-\(batches - 1)"))
      #expect(last?["field-\(number)"] == .integer(Int64(batches - 1)))
    }
    #expect(try store.collection("shared").count() == processCount * batches)
    // Three notes and two documents of a batch.
    #expect(try store.statistics().sequence == UInt64(processCount * batches * 5))
    try verifyAndClose(store)
  }

  @Test("a collection and fields that another process declares are read and written here")
  func declaredElsewhere() throws {
    let store = try Store(at: folder.store)
    let things = store.collection("things")
    try things.save([["id": "here", "mine": 1]], keyField: "id")
    #expect(try store.collection("others").count() == 0)
    let other = try OtherProcess("declare", folder.store, "others", "first", "second")
    _ = try other.expect("open")
    other.goOn()
    _ = try other.expect("declared")

    #expect(try store.collection("others").get("first")?["first"] == 1)
    _ = try other.expect("declared")
    #expect(try store.collection("others").get("second")?["second"] == 1)
    #expect(try store.collectionNames() == ["others", "things"])
    try store.collection("others").save([["id": "third", "first": 3, "third": 3]])
    #expect(try store.collection("others").get("third")?["third"] == 3)
    #expect(other.finish().isEmpty)
    try store.declare(Note.self)
    let next = try OtherProcess("declare", folder.store, "things", "yours")
    _ = try next.expect("open")
    try store.write { tx in
      next.goOn()
      // It waits for this write to end.
      #expect(next.line(timeoutSeconds: 0.3) == nil)
      try tx.save(Note(id: "a", nonce: "", batchCount: 1))
    }
    _ = try next.expect("declared")
    try things.save([["id": "here", "mine": 2, "yours": 2]])
    #expect(try things.get("here") == ["id": "here", "mine": 2, "yours": 2])
    try verifyAndClose(store)
  }

  @Test("processes that declare different fields at the same moment lose none")
  func declarationsAtOnce() throws {
    let processCount = 3
    let fieldCount = 12
    let store = try Store(at: folder.store)
    let others = try (0..<processCount).map { number in
      let fields = (0..<fieldCount).map { "field-\(number)-\($0)" }
      return try OtherProcess(
        running: [OtherProcess.executable(), "declare", folder.store, "wide"] + fields)
    }
    for other in others { _ = try other.expect("open") }
    for other in others { other.goOn() }
    for number in 0..<fieldCount {
      let field = "field-here-\(number)"
      try store.collection("wide").save([["id": .string(field), field: 1]], keyField: "id")
    }
    for other in others {
      for number in 0..<fieldCount { #expect(try other.expect("declared").hasSuffix("-\(number)")) }
      #expect(other.finish().isEmpty)
    }

    let names = try #require(try store.statistics().collections.first).fields.map(\.name)
    #expect(names.count == (processCount + 1) * fieldCount + 1)
    #expect(Set(names).count == names.count)
    var seen: Set<String> = []
    for document in try store.collection("wide").documents() {
      guard case .string(let id)? = document["id"] else { continue }
      #expect(document[id] == 1)
      seen.insert(id)
    }
    #expect(seen.union(["id"]) == Set(names))
    try verifyAndClose(store)
  }

  @Test("reads go on while this process and another one declare collections")
  func readsWhileDeclaring() throws {
    let store = try Store(at: folder.store)
    try store.collection("things").save([["id": "a"]], keyField: "id")
    let other = try OtherProcess(
      running: [OtherProcess.executable(), "declare", folder.store, "wide"]
        + (0..<40).map { "field-\($0)" })
    _ = try other.expect("open")
    let isOver = Flag()
    let readers = Threads(2) { _ in
      while !isOver.isSet {
        let count = try store.collection("things").count()
        #expect(count == 1)
      }
    }
    other.goOn()
    for number in 0..<40 {
      try store.collection("new-\(number)").save([["id": "a"]], keyField: "id")
    }
    for _ in 0..<40 { _ = try other.expect("declared") }
    isOver.set()
    try readers.join()

    #expect(try store.collectionNames().count == 42)
    try verifyAndClose(store)
  }

  @Test("a write waits for the write of another process, and a read does not")
  func waitingWriter() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(Note(id: "first", nonce: "", batchCount: 1))
    let other = try OtherProcess("hold-writer", folder.store)
    _ = try other.expect("holding")
    let isSaved = Flag()
    let writer = Threads(1) { _ in
      try notes.save(Note(id: "second", nonce: "", batchCount: 1))
      isSaved.set()
    }

    #expect(try notes.count() == 1)
    usleep(100_000)
    #expect(!isSaved.isSet)
    other.goOn()
    try writer.join()
    #expect(try notes.fetch(Note.all).map(\.id) == ["first", "held", "second"])
    try verifyAndClose(store)
  }

  @Test("a snapshot of another process stays while this one writes")
  func snapshotElsewhere() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(Note(id: "first", nonce: "", batchCount: 1))
    let other = try OtherProcess("hold-reader", folder.store)
    #expect(try other.expect("holding") == "1")

    for number in 0..<50 { try notes.save(Note(id: "\(number)", nonce: "", batchCount: 1)) }
    try notes.eraseAllData()

    other.goOn()
    #expect(try other.expect("held") == "1")
    #expect(try notes.count() == 0)
    try verifyAndClose(store)
  }

  @Test("no thread and no other process ever sees half a transfer")
  func transfers() throws {
    let store = try Store(at: folder.store)
    let accounts = store.repository(of: Account.self)
    try accounts.save((0..<40).map { Account(number: $0, balance: 100) })
    let other = try OtherProcess("sum", folder.store)
    _ = try other.expect("open")
    let isOver = Flag()
    let readers = Threads(2) { _ in
      while !isOver.isSet {
        let sum = try store.read { try $0.fetch(Account.all).reduce(0) { $0 + $1.balance } }
        #expect(sum == 4000)
      }
    }
    var generator = RandomSource()
    for _ in 0..<400 {
      let (from, to) = (
        Int.random(in: 0..<40, using: &generator), Int.random(in: 0..<40, using: &generator)
      )
      let amount = Int.random(in: 1...50, using: &generator)
      // Pages split and merge as well as change.
      let text = String(repeating: "x", count: Int.random(in: 0...900, using: &generator))
      try store.write { tx in
        var payer = try #require(try tx.get(Account.self, from))
        payer.balance -= amount
        payer.text = text
        try tx.save(payer)
        #expect(try tx.get(Account.self, from) == payer)
        var payee = try #require(try tx.get(Account.self, to))
        payee.balance += amount
        try tx.save(payee)
        #expect(try tx.fetch(Account.all).reduce(0) { $0 + $1.balance } == 4000)
      }
    }
    isOver.set()
    try readers.join()

    // However little the processors have given it so far.
    _ = try other.expect("summed")
    #expect(other.finish() == ["sums 4000"])
    try verifyAndClose(store)
  }

  @Test("clear-before-save shows no empty moment to a thread or another process")
  func neverEmpty() throws {
    let store = try Store(at: folder.store)
    let accounts = store.repository(of: Account.self)
    try accounts.save((0..<30).map { Account(number: $0, balance: 0) })
    let other = try OtherProcess("never-empty", folder.store)
    _ = try other.expect("open")
    let isOver = Flag()
    let readers = Threads(2) { _ in
      while !isOver.isSet {
        let count = try accounts.count()
        let rounds = Set(try accounts.fetch(Account.all).map(\.balance))
        try #require(count == 30 && rounds.count == 1, "\(count) accounts of \(rounds)")
      }
    }
    for round in 1...150 {
      let start = round % 2 * 20
      let report = try accounts.save(
        (start..<start + 30).map { Account(number: $0, balance: round) },
        clearBeforeSaving: Account.all)
      #expect(report.deleted == 20)
    }
    isOver.set()
    try readers.join()

    _ = try other.expect("counted")
    #expect(other.finish() == ["counts 30"])
    try verifyAndClose(store)
  }
}
