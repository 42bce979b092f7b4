import Foundation
import Larder
import LarderTestKit

/// One level of an order twice: for the store, and as a comparison of documents.
struct Ordering {
  let sort: (Query<Specimen>) -> Query<Specimen>
  /// Below zero, zero or above zero.
  let compare: (Specimen, Specimen) -> Int

  static func random(using random: inout RandomSource) -> Ordering {
    let direction: SortOrder = random.bool() ? .forward : .reverse
    if random.once(in: 3) { return random.pick(fields)(direction) }
    if random.once(in: 4) {
      return random.pick(placed)(direction, random.pick([nil, .first, .last]))
    }
    return random.pick(all)(direction)
  }

  typealias Maker = (SortOrder) -> Ordering

  nonisolated(unsafe) private static let all: [Maker] = [  // Immutable.
    by(\.id, TextOracle.normal), by(\.name, TextOracle.normal), by(\.note, TextOracle.normal),
    by(\.count), by(\.small), by(\.step), by(\.big),
    by(\.bigger), by(\.ratio, isNaN: \.isNaN), by(\.weight, isNaN: \.isNaN),
    by(\.gauge, isNaN: \.isNaN),
    by(\.level, isNaN: \.isNaN), by(\.price, isNaN: \.isNaN), by(\.cost, isNaN: \.isNaN),
    by(\.made, isNaN: \.timeIntervalSinceReferenceDate.isNaN),
    by(\.sold, isNaN: \.timeIntervalSinceReferenceDate.isNaN), by(\.token), by(\.parent),
    by(\.title, TextOracle.normal), by(\.total), by(\.base.lat, isNaN: \.isNaN),
    by(\.base.place.word, TextOracle.normal), by(\.site?.label, TextOracle.normal),
    by(\.site?.alias, TextOracle.normal), by(\.site?.lat, isNaN: \.isNaN), by(\.color.rawValue),
  ]

  private static func by<Value: Comparand & Comparable>(
    _ path: any KeyPath<Specimen, Value> & Sendable,
    _ normal: @escaping (Value) -> Value = { $0 },
    isNaN: @escaping (Value) -> Bool = { _ in false }
  ) -> Maker {
    { direction in
      Ordering(
        sort: { $0.sorted(by: path, direction) },
        compare: {
          directed(
            compare(normal($0[keyPath: path]), normal($1[keyPath: path]), isNaN), direction)
        })
    }
  }

  private static func by<Value: Comparand & Comparable>(
    _ path: any KeyPath<Specimen, Value?> & Sendable,
    _ normal: @escaping (Value) -> Value = { $0 },
    isNaN: @escaping (Value) -> Bool = { _ in false }
  ) -> Maker {
    { direction in
      Ordering(
        sort: { $0.sorted(by: path, direction) },
        compare: {
          directed(
            compare($0[keyPath: path].map(normal), $1[keyPath: path].map(normal), isNaN), direction)
        })
    }
  }

  static func directed(_ comparison: Int, _ direction: SortOrder) -> Int {
    direction == .reverse ? -comparison : comparison
  }

  /// Nil, then what Swift orders, then what is not a number.
  static func compare<Value: Comparable>(
    _ first: Value?, _ second: Value?, _ isNaN: (Value) -> Bool
  ) -> Int {
    func rank(_ value: Value?) -> Int { value.map { isNaN($0) ? 2 : 1 } ?? 0 }
    if rank(first) != rank(second) { return rank(first) - rank(second) }
    guard let first, let second, !isNaN(first) else { return 0 }
    return first < second ? -1 : first == second ? 0 : 1
  }
}
