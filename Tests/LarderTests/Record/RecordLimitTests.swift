import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// How large a document may be.
@Suite struct RecordLimitTests {
  /// What a test has memory for; a process asks for it from 16 MiB on.
  private static let limit = 18 << 20

  private func withLimit<Result>(_ body: () throws -> Result) rethrows -> Result {
    try RecordFormat.$byteCountLimit.withValue(Self.limit) { try body() }
  }

  @Test("the limit is less than what Linux writes at once, with room for the change log")
  func number() {
    #expect(RecordFormat.byteCountLimit == RecordFormat.maximumByteCount)
    #expect(RecordFormat.maximumByteCount == 2_146_435_072)
    #expect(RecordFormat.maximumByteCount < 0x7FFF_F000 - 256 << 10)
  }

  @Test(
    "a document that is too large is refused with its field, size and limit, and nothing is kept")
  func refused() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: One<[Data]>.self)
      let memory = InMemoryRepository(of: One<[Data]>.self)
      let small = One([Data([1])], id: "small")
      let large = One(
        [Data(repeating: 1, count: 9 << 20), Data(repeating: 2, count: 10 << 20)], id: "large")
      // Its own bytes and those of the record's header, lengths and checksum.
      let expected = StoreError.unwritable(
        collection: "One", key: "\"large\"",
        reason: .field("value", .tooLarge(byteCount: 19 << 20 + 50, limit: Self.limit)))
      func check(_ save: () throws -> SaveReport) {
        let error = withLimit { #expect(throws: StoreError.self) { try save() } }
        guard
          case .unwritable("One", "\"large\"", .field("value", .tooLarge(let count, Self.limit)))? =
            error
        else {
          Issue.record("\(String(describing: error)), not \(expected)")
          return
        }
        #expect(count > 19 << 20 && count < 19 << 20 + 200)
        #expect(
          "\(error.map { "\($0)" } ?? "")".contains("value: the document takes \(count) bytes"))
      }

      check { try repository.save([small, large]) }
      check { try memory.save([small, large]) }
      check { try store.write { try $0.save([small, large]) } }
      #expect(try repository.count() == 0)
      #expect(try memory.count() == 0)

      try repository.save([small, large])
      check {
        try store.collection("One").save([try #require(try store.collection("One").get("large"))])
      }
      #expect(try repository.fetch(One.all) == [large, small])
    }
  }
}
