import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Batches that are too large to be encoded and written in one go.
@Suite(.timeLimit(.minutes(20))) struct LargeBatchTests {
  @Test("a large batch out of order, in which keys stand twice, is saved as one by one")
  func largeBatches() async throws {
    var random = RandomSource()
    for round in 0..<6 {
      try await withTemporaryStore { store in
        let parcels = store.repository(of: Parcel.self)
        let batch = (0..<4000).map {
          Parcel(id: .random(in: 0..<3000, using: &random), code: "\(round) \($0)", note: "\($0)")
        }
        var expected: [Int: Parcel] = [:]
        for parcel in batch { expected[parcel.id] = parcel }

        let isCleared = round % 2 == 0
        let report =
          try await isCleared
          ? parcels.save(batch, clearBeforeSaving: Parcel.all)
          : store.write { try $0.save(batch) }

        #expect(report.inserted == expected.count)
        #expect(report.duplicates == batch.count - expected.count)
        #expect(try parcels.fetch(Parcel.all) == expected.values.sorted { $0.id < $1.id })
        #expect(try store.check().isSound)
      }
    }
  }
}
