import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Synchronization
import Testing

@testable import Larder

/// Reads of large collections by several threads. Here, and in every test of the process that runs at the same
/// time or later, a collection is large as soon as it has two pages.
@Suite("reads by several threads") struct ParallelReadTests {
  private let folder = TestFolder()

  init() { ParallelRead.leastDocumentCount.store(1, ordering: .relaxed) }

  private func open(threads: Int = 4) throws -> Store {
    var options = StoreOptions(durability: .volatile)
    options.readThreadCount = threads
    return try Store(at: folder.store, options: options)
  }

  private func contact(_ number: Int, using random: inout RandomSource) -> Contact {
    Contact(
      id: "\(number)", name: String(repeating: "n", count: random.int(0..<200)),
      city: random.pick(["Oslo", "Wien", "København", "Ålesund"]), order: random.int(-50..<50),
      balance: Double(random.int(0..<1_000)) / 8, tags: random.array(0..<3) { "\($0.int(0..<9))" },
      note: random.bool() ? nil : "note \(random.int(0..<50))")
  }

  private struct Question {
    let name: String
    let query: Query<Contact>
    let holds: (Contact) -> Bool
  }

  private static var questions: [Question] {
    [
      Question(name: "all", query: Contact.all, holds: { _ in true }),
      Question(name: "order", query: Contact.where { $0.order < -20 }, holds: { $0.order < -20 }),
      Question(
        name: "city", query: Contact.where { $0.city == "København" },
        holds: { $0.city == "København" }),
      Question(
        name: "name", query: Contact.where { $0.name.contains("nnn") && $0.balance > 60 },
        holds: { $0.name.contains("nnn") && $0.balance > 60 }),
      Question(
        name: "tags", query: Contact.where { $0.tags.contains("3") || $0.note == nil },
        holds: { $0.tags.contains("3") || $0.note == nil }),
      Question(
        name: "key", query: Contact.where { $0.id > "4" && $0.order > 0 },
        holds: { $0.id > "4" && $0.order > 0 }),
      Question(name: "nothing", query: Contact.where { $0.order > 99 }, holds: { _ in false }),
    ]
  }

  @Test("documents and counts are those of one thread, in the same order, whatever the condition")
  func oracle() throws {
    var random = RandomSource()
    let store = try open()
    let contacts = store.repository(of: Contact.self)
    for count in [10, 60, 700, 4_000] {
      let saved = (0..<count).map { contact($0, using: &random) }
      try contacts.save(saved.shuffled(using: &random))
      let sorted = saved.sorted { $0.id < $1.id }
      for question in Self.questions {
        let expected = sorted.filter(question.holds)
        let hint = Comment(rawValue: "\(question.name) of \(count), \(random.hint)")
        #expect(try contacts.fetch(question.query) == expected, hint)
        #expect(try contacts.count(question.query) == expected.count, hint)
        #expect(
          try contacts.fetch(question.query.offset(3).limit(5))
            == Array(expected.dropFirst(3).prefix(5)),
          hint)
        let byOrder = expected.sorted { ($0.order, $0.id) < ($1.order, $1.id) }
        #expect(try contacts.fetch(question.query.sorted(by: \.order)) == byOrder, hint)
        // Inside of a write one thread reads what was written so far.
        let inside = try store.write { tx in
          try tx.save(Contact(id: "00", city: "Oslo"))
          let found = try tx.fetch(question.query)
          try tx.delete(Contact.self, "00")
          return found
        }
        #expect(inside.filter { $0.id != "00" } == expected, hint)
      }
    }
    try verifyAndClose(store)
  }

  @Test("a scan of many documents is done in parts; what an index or an order finds is not")
  func parts() throws {
    let store = try open()
    let contacts = store.repository(of: Contact.self)
    try contacts.save((0..<2_000).map { Contact(id: "\($0)", city: "x", order: $0) })
    func parts(_ query: Query<Contact>) throws -> [[String]]? {
      try store.read { snapshot in
        let binding = try #require(try snapshot.catalogue.binding(of: Contact.self))
        let execution = try snapshot.transaction.execution(of: query.selection, binding)
        return try execution.inParts(LentTransaction(snapshot.transaction)) { part in
          var keys: [String] = []
          try part.forEach { key, _ in
            keys.append(String(decoding: key, as: UTF8.self))
            return true
          }
          return keys
        }
      }
    }
    let all = try #require(try parts(Contact.all))
    #expect(all.count == 32)
    #expect(all.joined().sorted() == all.joined().map { $0 } && all.joined().count == 2_000)
    #expect(try parts(Contact.where { $0.order < 3 })?.joined().map { $0 } == ["0", "1", "2"])
    #expect(try parts(Contact.all.sorted(by: \.order)) == nil)
    #expect(try parts(Contact.where { $0.id == "7" }) == nil)
    #expect(try parts(Contact.where { $0.city == "y" }) != nil)
    try store.collection("Contact").createIndex(on: "city")
    try store.collection("Contact").buildIndexes()
    #expect(try parts(Contact.where { $0.city == "y" }) == nil)
    try verifyAndClose(store)
  }

  /// A plain type that does not take every number.
  private struct Gauge: Codable, Identifiable, Equatable, Sendable {
    struct Refused: Error {}

    var id: Int
    var value: Int

    init(id: Int, value: Int) {
      self.id = id
      self.value = value
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      value = try container.decode(Int.self, forKey: .value)
      if value < 0 { throw Refused() }
    }
  }

  @Test("plain types are decoded by several threads, and the first that cannot be is thrown")
  func plain() throws {
    let store = try open()
    let readings = store.repository(of: Gauge.self)
    try readings.save((0..<3_000).map { Gauge(id: $0, value: $0 * 7 % 1_000) })
    let expected = (0..<3_000).map { Gauge(id: $0, value: $0 * 7 % 1_000) }
    #expect(try readings.fetch(readings.all) == expected)
    #expect(
      try readings.fetch(readings.where { $0.value < 100 }) == expected.filter { $0.value < 100 })

    // In parts beside each other, and far apart.
    try readings.save([700, 790, 880, 1_500, 2_900].map { Gauge(id: $0, value: -1) })
    for _ in 0..<200 {
      let error = #expect(throws: StoreError.self) { try readings.fetch(readings.all) }
      #expect("\(error.map { "\($0)" } ?? "")".contains("700"))
    }
    try verifyAndClose(store)
  }

  @Test("all threads see one moment, while others write")
  func oneMoment() throws {
    let store = try open()
    let contacts = store.repository(of: Contact.self)
    @Sendable func version(_ number: Int) -> [Contact] {
      (0..<400).map { Contact(id: "\($0)", city: "x", order: number) }
    }
    try contacts.save(version(0))
    let isDone = Locked(false)
    DispatchQueue.concurrentPerform(iterations: 3) { worker in
      #expect(throws: Never.self) {
        if worker == 0 {
          defer { isDone.withLock { $0 = true } }
          for number in 1...30 { try contacts.save(version(number)) }
          return
        }
        repeat {
          let orders = Set(try contacts.fetch(Contact.all).map(\.order))
          #expect(orders.count == 1)
          #expect(try contacts.count(Contact.where { $0.city == "x" }) == 400)
        } while !isDone.withLock { $0 }
      }
    }
    try verifyAndClose(store)
  }

  @Test("where a key in a branch page is damaged, no document is passed over without a word")
  func damagedCut() throws {
    for threads in [1, 4] {
      let folder = TestFolder()
      var options = StoreOptions(durability: .volatile)
      options.readThreadCount = threads
      let store = try Store(at: folder.store, options: options)
      let contacts = store.repository(of: Contact.self)
      func key(_ number: Int) -> String { String(String(1_000_000 + number).dropFirst()) }
      try contacts.save((0..<4_000).map { Contact(id: key($0), city: "x", order: $0) })
      #expect(try contacts.count(Contact.where { $0.order >= 0 }) == 4_000)

      let file = try FileHandle(
        forUpdating: URL(filePath: folder.store).appending(path: "data.mdb"))
      let bytes = [UInt8](try file.readToEnd() ?? Data())
      func number(_ place: Int) -> Int { Int(bytes[place]) | Int(bytes[place + 1]) << 8 }
      func keyPlace(_ page: Int, _ node: Int) -> Int { page + number(page + 16 + 2 * node) + 8 }
      func separator(_ page: Int, _ node: Int) -> Int? {
        let place = keyPlace(page, node)
        return Int(String(decoding: bytes[place..<place + 6], as: UTF8.self))
      }
      var damaged = 0
      for page in stride(from: 0, to: bytes.count, by: 4096) where number(page + 10) == 1 {
        let count = (number(page + 12) - 16) / 2
        // Where the fourth part begins.
        let node = 3 * count / 32
        guard count >= 32, let before = separator(page, node - 1), let at = separator(page, node)
        else { continue }
        try file.seek(toOffset: UInt64(keyPlace(page, node)))
        try file.write(contentsOf: Data(key((before + at) / 2).utf8))
        damaged += 1
      }
      try file.close()
      #expect(damaged > 0)

      // The way from leaf to leaf does not lead over that key; the way to the fourth part does.
      #expect(try contacts.fetch(Contact.all).map(\.order) == Array(0..<4_000))
      #expect(try contacts.count(Contact.where { $0.order >= 0 }) == 4_000)
      try store.close()
    }
  }

  @Test("a count of threads that is none is refused")
  func wrongCount() {
    #expect(throws: StoreError.self) { try open(threads: 0) }
    #expect(throws: StoreError.self) { try open(threads: 65) }
  }
}
