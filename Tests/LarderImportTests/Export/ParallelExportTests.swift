import Foundation
import LarderTestKit
import LarderTesting
import Synchronization
import Testing

@testable import Larder
@testable import LarderImport

/// Exports by several threads. Here, and in every test of the process that runs at the same time or later, a
/// collection is large as soon as it has two pages.
@Suite("Exports by several threads") struct ParallelExportTests {
  private let folder = TestFolder()

  init() { ParallelRead.leastDocumentCount.store(1, ordering: .relaxed) }

  private func file(_ name: String) -> String { "\(folder.path)/\(name)" }

  @discardableResult
  private func withStore<Result>(_ threads: Int, _ body: (Store) throws -> Result) throws -> Result
  {
    var options = StoreOptions(durability: .volatile)
    options.readThreadCount = threads
    let store = try Store(at: folder.store, options: options)
    let result = try body(store)
    try store.close()
    return result
  }

  /// What an export by one thread writes, and one by four.
  private func texts(
    _ query: DynamicQuery, _ format: ExportFormat, _ options: ExportOptions = ExportOptions()
  ) throws -> (one: Data, four: Data) {
    func text(_ threads: Int) throws -> Data {
      try withStore(threads) { store in
        let file = self.file("\(threads).\(format.rawValue)")
        var told: [Int] = []
        let report = try store.export(
          collection: "c", query, as: format, to: .file(file), options: options
        ) { told.append($0.completed) }
        let text = try Data(contentsOf: URL(filePath: file))
        #expect(report.byteCount == text.count)
        #expect(told == told.sorted() && told.last ?? 0 <= report.documentCount)
        if threads == 4, report.documentCount > 1 { #expect(told.last == report.documentCount) }
        return text
      }
    }
    return (try text(1), try text(4))
  }

  @Test(
    "the same bytes as by one thread: all, some and none, in every format", arguments: [3_000, 1])
  func same(count: Int) throws {
    try withStore(1) { store in
      try store.collection("c").save(
        (0..<count).map { number -> DynamicDocument in
          [
            "id": .integer(Int64(number)), "text": .string("a \"quoted\", long text \(number)"),
            "n": .integer(Int64(number % 7)), "tags": .array([.string("x"), .string("\(number)")]),
          ]
        }, keyField: "id")
    }
    var fields = ExportOptions()
    fields.fields = [FieldPath(field: "text"), FieldPath(field: "id")]
    let queries: [(query: DynamicQuery, count: Int)] = [
      (DynamicQuery(), count),
      (.where { $0.n == 3 }, (0..<count).count { $0 % 7 == 3 }),
      (.where { $0.text == "none" }, 0),
    ]
    for format in ExportFormat.allCases {
      for (query, expected) in queries {
        for options in [ExportOptions(), fields] {
          let told = try texts(query, format, options)
          #expect(told.one == told.four, "\(format), \(expected)")
          if format == .ndjson {
            #expect(told.four.count { $0 == UInt8(ascii: "\n") } == expected)
          }
          if format == .json {
            let array = try JSONSerialization.jsonObject(with: told.four) as? [Any]
            #expect(array?.count == expected)
          }
        }
      }
    }
    guard count > 1 else { return }
    try withStore(4) { store in
      let isDone = try store.read { try $0.inTurns(DynamicQuery(), in: "c") { _ in } }
      #expect(isDone)
    }
  }

  @Test("parts that are longer than what is held of them come in their order")
  func longParts() throws {
    try withStore(1) { store in
      try store.collection("c").save(
        (0..<400).map { number -> DynamicDocument in
          [
            "id": .integer(Int64(number)),
            "text": .string(String(repeating: "\(number) ", count: 25_000)),
          ]
        }, keyField: "id")
    }
    let told = try texts(DynamicQuery(), .ndjson)
    #expect(told.one == told.four)
    #expect(told.four.count > 30_000_000)
  }

  @Test("an export that is told to end leaves the file that was there")
  func ended() throws {
    struct Enough: Error {}
    try withStore(4) { store in
      try store.collection("c").save(
        (0..<5_000).map { ["id": .integer(Int64($0))] as DynamicDocument }, keyField: "id")
      let file = self.file("out.json")
      try Data("before".utf8).write(to: URL(filePath: file))
      #expect(throws: Enough.self) {
        try store.export(collection: "c", as: .json, to: .file(file)) { _ in throw Enough() }
      }
      #expect(try Data(contentsOf: URL(filePath: file)) == Data("before".utf8))
    }
  }
}
