import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

/// Numbers that a field of decimals has no room for, in conditions.
@Suite struct FarNumberTests {
  private static let decimals: [Decimal] = [
    0, 1, -1, Decimal(string: "1e-128") ?? 0, Decimal(string: "-1e-128") ?? 0,
    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, Decimal(string: "1e127") ?? 0,
    Decimal(string: "99999999999999999999999999999999999999e112") ?? 0,
    Decimal(string: "-99999999999999999999999999999999999999e112") ?? 0,
  ]

  @Test(
    "they are compared by value: below some, above others, equal to none",
    arguments: [false, true],
    [1e300, -1e300, .infinity, -.infinity, 1e150, -1e150, 1e-300, -1e-300, 3.41e165, 1e128])
  func decimals(isIndexed: Bool, far: Double) throws {
    try withTemporaryStore { store in
      let documents = Self.decimals.enumerated().map { One($0.element, id: "\($0.offset)") }
      try store.repository(of: One<Decimal>.self).save(documents)
      let collection = store.collection("One")
      if isIndexed { try collection.createIndex(on: "value") }
      func ids(_ condition: (DynamicFields) -> DynamicFilter) throws -> Set<String> {
        Set(
          try collection.fetch(.where(condition)).map {
            if case .string(let id)? = $0["id"] { id } else { "" }
          })
      }
      // None of these is equal to it, so that doubles tell them apart: but for 1e150, and what is next to it.
      func isBelow(_ decimal: Decimal) -> Bool {
        let near = Double("\(decimal)") ?? .nan
        return near == far ? far > 0 : near < far
      }
      let below = Set(documents.filter { isBelow($0.value) }.map(\.id))
      let above = Set(documents.map(\.id)).subtracting(below)
      let value = Value.double(far)

      #expect(try ids { $0.value < value } == below)
      #expect(try ids { $0.value <= value } == below)
      #expect(try ids { $0.value > value } == above)
      #expect(try ids { $0.value >= value } == above)
      #expect(try ids { $0.value == value } == [])
      #expect(try ids { $0.value.isIn([value, 1]) } == ["1"])
      #expect(try ids { $0.value != value }.count == documents.count)
    }
  }
}
