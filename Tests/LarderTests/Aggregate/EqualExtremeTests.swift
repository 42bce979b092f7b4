import Foundation
import Larder
import LarderTesting
import Testing

/// Aggregates at the ends of what doubles can say.
@Suite struct EqualExtremeTests {
  @Test("the smallest and the largest zero is 0.0, whatever was stored, by every way")
  func zeros() throws {
    for zeros in [[0.0, -0.0], [-0.0, 0.0], [-0.0]] {
      try withTemporaryStore { store in
        let documents = zeros.enumerated().map { One($0.element, id: "\($0.offset)") }
        let repository = store.repository(of: One<Double>.self)
        let memory = InMemoryRepository(of: One<Double>.self)
        try repository.save(documents)
        try memory.save(documents)
        for isIndexed in [false, true] {
          if isIndexed { try store.collection("One").createIndex(on: "value") }
          let found = [
            try repository.min(\.value), try repository.max(\.value), try memory.min(\.value),
            try memory.max(\.value),
            try repository.min(\.value, of: One.all.sorted(by: \.value).limit(2)),
          ]
          #expect(found.allSatisfy { $0?.sign == .plus && $0 == 0 })
        }
      }
    }
  }

  @Test("an average is finite where all of its values are, also where their sum is not")
  func largeAverages() throws {
    let largest = Double.greatestFiniteMagnitude
    let cases: [([Double], Double)] = [
      ([1.7e308, 1.7e308], 1.7e308), ([largest, largest, largest], largest),
      ([-largest, -largest], -largest), ([largest, largest, -largest, -largest], 0),
      ([largest, largest, .infinity], .infinity), ([1, 2], 1.5),
    ]
    for (numbers, average) in cases {
      try withTemporaryStore { store in
        let documents = numbers.enumerated().map { One($0.element, id: "\($0.offset)") }
        let repository = store.repository(of: One<Double>.self)
        let memory = InMemoryRepository(of: One<Double>.self)
        try repository.save(documents)
        try memory.save(documents)

        #expect(try repository.average(\.value) == average)
        #expect(try memory.average(\.value) == average)
      }
    }
  }
}
