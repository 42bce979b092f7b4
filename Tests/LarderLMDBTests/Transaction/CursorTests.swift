import Foundation
import LarderLMDB
import LarderTestKit
import Testing

@Suite("cursors")
struct CursorTests {
  let folder = TestFolder()
  let environment: Environment

  init() throws {
    environment = try Environment.open(at: folder.store)
    try environment.store(["b": "2", "d": "4", "f": "6"])
  }

  @Test("a new cursor goes to the first record by next and to the last by previous")
  func fresh() throws {
    let snapshot = try environment.beginRead()
    try snapshot.withCursor(in: .main) { cursor throws in
      #expect(cursor.key.isEmpty)
      #expect(try cursor.next())
      #expect(cursor.record == "b=2")
    }
    try snapshot.withCursor(in: .main) { cursor throws in
      #expect(try cursor.previous())
      #expect(cursor.record == "f=6")
    }
  }

  @Test("past either end a cursor stays, and turns back to the record at that end")
  func ends() throws {
    let snapshot = try environment.beginRead()
    try snapshot.withCursor(in: .main) { cursor throws in
      #expect(try cursor.last())
      for _ in 0..<3 {
        #expect(try !cursor.next())
        #expect(cursor.record == "")
      }
      #expect(try cursor.previous())
      #expect(cursor.record == "f=6")
      #expect(try cursor.first())
      for _ in 0..<3 { #expect(try !cursor.previous()) }
      #expect(try cursor.next())
      #expect(cursor.record == "b=2")
    }
  }

  @Test("a key that is absent leaves the cursor in its gap")
  func gap() throws {
    let snapshot = try environment.beginRead()
    try snapshot.withCursor(in: .main) { cursor throws in
      #expect(try cursor.seek("d"))
      #expect(cursor.record == "d=4")
      #expect(try !cursor.seek("c"))
      #expect(cursor.record == "")
      #expect(try cursor.next())
      #expect(cursor.record == "d=4")
      #expect(try !cursor.seek("c"))
      #expect(try cursor.previous())
      #expect(cursor.record == "b=2")
      #expect(try cursor.seek(atOrAfter: "c"))
      #expect(cursor.record == "d=4")
      #expect(try !cursor.seek(atOrAfter: "g"))
      #expect(try cursor.previous())
      #expect(cursor.record == "f=6")
      #expect(try cursor.seek(atOrAfter: ""))
      #expect(cursor.record == "b=2")
    }
  }

  @Test("an empty database has no record anywhere")
  func empty() throws {
    let none = try #require(try environment.database(named: "none", create: true))
    let snapshot = try environment.beginRead()
    try snapshot.withCursor(in: none) { cursor throws in
      #expect(try !cursor.next())
      #expect(try !cursor.previous())
      #expect(try !cursor.first())
      #expect(try !cursor.last())
      #expect(try !cursor.seek("a"))
      #expect(try !cursor.seek(atOrAfter: "a"))
    }
  }

  @Test("replacing needs the record under the cursor, and may be given the cursor's own key")
  func replace() throws {
    let transaction = try environment.beginWrite()
    try transaction.withCursor(in: .main) { cursor throws in
      #expect(code { try cursor.put("x", "b", .replaceCurrent) } == .missing)
      #expect(try cursor.next())
      #expect(code { try cursor.put("x", "d", .replaceCurrent) } != nil)
      for length in [1, 100, 3, 5000, 0, 40] {
        try withBytes(String(repeating: "y", count: length)) { value in
          try cursor.put(value, for: cursor.key, .replaceCurrent)
        }
        #expect(cursor.record == "b=" + String(repeating: "y", count: length))
      }
      try cursor.put("z", "b", .replaceCurrent)
      #expect(try cursor.next())
      #expect(cursor.record == "d=4")
    }
    #expect(try transaction.records() == ["b=z", "d=4", "f=6"])
    try transaction.commit()
  }

  @Test("a record is deleted once, and only where the cursor stands")
  func deleteTwice() throws {
    let transaction = try environment.beginWrite()
    try transaction.withCursor(in: .main) { cursor throws in
      #expect(code { try cursor.delete() } == .missing)
      #expect(try cursor.seek("d"))
      try cursor.delete()
      #expect(cursor.record == "")
      #expect(code { try cursor.delete() } == .missing)
      #expect(try cursor.next())
      #expect(cursor.record == "f=6")
    }
    #expect(try transaction.records() == ["b=2", "f=6"])
  }

  @Test("a cursor of a read transaction writes nothing")
  func readOnly() throws {
    let snapshot = try environment.beginRead()
    try snapshot.withCursor(in: .main) { cursor throws in
      #expect(try cursor.next())
      #expect(code { try cursor.put("x", "a") } == .readOnly)
      #expect(code { try cursor.delete() } == .readOnly)
    }
    #expect(try snapshot.records() == ["b=2", "d=4", "f=6"])
  }

  @Test("a record put from beyond the end and deleted again does not hide the records after it")
  func putFromBeyondTheEnd() throws {
    let large = String(repeating: "v", count: 1900)
    let pages = try #require(try environment.database(named: "pages", create: true))
    try environment.store(["m": large, "n": large], in: pages)
    let transaction = try environment.beginWrite()
    try transaction.withCursor(in: pages) { cursor throws in
      #expect(try cursor.last())
      #expect(try !cursor.next())

      // Splits the page and leaves two large records on two pages when it goes.
      try cursor.put(large, "a")
      try cursor.delete()

      #expect(try cursor.next())
      #expect(cursor.key.elementsEqual("m".utf8))
      #expect(try cursor.next())
      #expect(cursor.key.elementsEqual("n".utf8))
    }
  }

  @Test("random moves and writes agree with a sorted dictionary")
  func model() throws {
    var random = RandomSource()
    for round in 0..<8 {
      var model = Model()
      let database = try #require(
        try environment.database(named: "model\(round)", create: true))
      for _ in 0..<4 {
        let transaction = try environment.beginWrite()
        try transaction.withCursor(in: database) { cursor throws in
          model.position = nil
          for step in 0..<1500 {
            let context: Comment = "\(random.hint) round \(round) step \(step)"
            try model.step(&cursor, &random, context)
          }
        }
        try transaction.commit()
        let expected = model.sorted.map { "\($0)=\(model.values[$0] ?? "")" }
        #expect(try environment.beginRead().records(in: database) == expected, "\(random.hint)")
      }
    }
  }
}

/// What a cursor should do, by a sorted array.
private struct Model {
  var values: [String: String] = [:]
  var sorted: [String] = []
  /// Nil when just opened.
  var position: Position?

  enum Position: Equatable {
    case on(Int)
    /// Before the record with this index.
    case gap(Int)
  }

  mutating func step(
    _ cursor: inout Cursor, _ random: inout RandomSource, _ context: Comment
  ) throws {
    let key = "k\(Int.random(in: 0..<600, using: &random))" + pad(&random)
    switch Int.random(in: 0..<20, using: &random) {
    case 0: expect(try cursor.first(), move(to: 0, else: .gap(sorted.count)), context)
    case 1: expect(try cursor.last(), move(to: sorted.count - 1, else: .gap(0)), context)
    case 2...5: expect(try cursor.next(), next(), context)
    case 6...8: expect(try cursor.previous(), previous(), context)
    case 9: expect(try cursor.seek(key), seek(key, exact: true), context)
    case 10: expect(try cursor.seek(atOrAfter: key), seek(key, exact: false), context)
    case 11...13 where isOnRecord:
      try cursor.delete()
      delete()
    case 14 where isOnRecord:
      let value = value(&random)
      let current = currentKey
      try withBytes(value) { try cursor.put($0, for: cursor.key, .replaceCurrent) }
      values[current] = value
    case 15 where key > (sorted.last ?? ""):
      let value = value(&random)
      try cursor.put(value, key, .append)
      insert(key, value)
    default:
      let value = value(&random)
      try cursor.put(value, key)
      insert(key, value)
    }
    let record = isOnRecord ? currentKey + "=" + (values[currentKey] ?? "") : ""
    #expect(cursor.record == record, context)
  }

  private func expect(_ actual: Bool, _ expected: Bool, _ context: Comment) {
    #expect(actual == expected, context)
  }

  var isOnRecord: Bool {
    if case .on = position { return true }
    return false
  }

  private var currentKey: String {
    guard case .on(let index) = position else { return "" }
    return sorted[index]
  }

  private mutating func move(to index: Int, else edge: Position) -> Bool {
    guard sorted.indices.contains(index) else {
      position = edge
      return false
    }
    position = .on(index)
    return true
  }

  private mutating func next() -> Bool {
    let index =
      switch position {
      case nil: 0
      case .on(let index): index + 1
      case .gap(let index): index
      }
    return move(to: index, else: .gap(sorted.count))
  }

  private mutating func previous() -> Bool {
    let index =
      switch position {
      case nil: sorted.count - 1
      case .on(let index), .gap(let index): index - 1
      }
    return move(to: index, else: .gap(0))
  }

  private mutating func seek(_ key: String, exact: Bool) -> Bool {
    let index = sorted.firstIndex { $0 >= key } ?? sorted.count
    if exact, index < sorted.count, sorted[index] != key {
      position = .gap(index)
      return false
    }
    return move(to: index, else: .gap(index))
  }

  private mutating func delete() {
    guard case .on(let index) = position else { return }
    values[sorted.remove(at: index)] = nil
    position = .gap(index)
  }

  private mutating func insert(_ key: String, _ value: String) {
    let index = sorted.firstIndex { $0 >= key } ?? sorted.count
    if values.updateValue(value, forKey: key) == nil { sorted.insert(key, at: index) }
    position = .on(index)
  }

  /// Long keys and values make the tree deep enough to split and merge.
  private func pad(_ random: inout RandomSource) -> String {
    Bool.random(using: &random) ? "" : String(repeating: "p", count: 150)
  }

  private func value(_ random: inout RandomSource) -> String {
    let lengths = [0, 1, 20, 300, 1500, 5000]
    return String(repeating: "v", count: lengths.randomElement(using: &random) ?? 0)
      + "\(UInt8.random(in: 0...255, using: &random))"
  }
}
