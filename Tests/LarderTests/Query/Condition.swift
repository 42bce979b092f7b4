import Foundation
import Larder
import LarderTestKit

/// The same condition twice: for the store, and as Swift's own operators on a document.
struct Condition {
  let filter: (Fields<Specimen>) -> Filter<Specimen>
  let holds: (Specimen) -> Bool

  /// A random tree of `&&`, `||` and `!` over single comparisons.
  static func random(depth: Int, using random: inout RandomSource) -> Condition {
    guard depth > 0, !random.once(in: 5) else { return leaf(&random) }
    let first = Self.random(depth: depth - 1, using: &random)
    if random.once(in: 4) {
      return Condition(filter: { !first.filter($0) }, holds: { !first.holds($0) })
    }
    let second = Self.random(depth: depth - 1, using: &random)
    if random.bool() {
      return Condition(
        filter: { first.filter($0) && second.filter($0) },
        holds: { first.holds($0) && second.holds($0) })
    }
    return Condition(
      filter: { first.filter($0) || second.filter($0) },
      holds: { first.holds($0) || second.holds($0) })
  }

  private static func leaf(_ random: inout RandomSource) -> Condition {
    random.once(in: 3) ? random.pick(operatorLeaves)(&random) : random.pick(leaves)(&random)
  }

  typealias Leaf = (inout RandomSource) -> Condition
  typealias Place<Value> = (Fields<Specimen>) -> QueryField<Specimen, Value>

  nonisolated(unsafe) private static let leaves: [Leaf] = [  // Immutable.
    ordered({ $0.id }, \.id, Pool.texts, TextOracle.normal), text({ $0.id }, \.id),
    ordered({ $0.name }, \.name, Pool.allTexts, TextOracle.normal), text({ $0.name }, \.name),
    text({ $0.name }, \.name), equal({ $0.name }, \.name, Pool.allTexts),
    ordered({ $0.note }, \.note, Pool.allTexts, TextOracle.normal), text({ $0.note }, \.note),
    ordered({ $0.count }, \.count, Pool.integers), ordered({ $0.small }, \.small, Pool.bytes),
    ordered({ $0.step }, \.step, Pool.words), ordered({ $0.big }, \.big, Pool.naturals),
    ordered({ $0.bigger }, \.bigger, Pool.naturals),
    ordered({ $0.ratio }, \.ratio, Pool.doubles), equal({ $0.ratio }, \.ratio, Pool.doubles),
    ordered({ $0.weight }, \.weight, Pool.doubles), ordered({ $0.gauge }, \.gauge, Pool.floats),
    ordered({ $0.level }, \.level, Pool.floats), ordered({ $0.price }, \.price, Pool.decimals),
    equal({ $0.price }, \.price, Pool.decimals), ordered({ $0.cost }, \.cost, Pool.decimals),
    ordered({ $0.made }, \.made, Pool.dates), ordered({ $0.sold }, \.sold, Pool.dates),
    ordered({ $0.token }, \.token, Pool.ids), ordered({ $0.parent }, \.parent, Pool.ids),
    equal({ $0.link }, \.link, Pool.links), equal({ $0.source }, \.source, Pool.links),
    equal({ $0.blob }, \.blob, Pool.blobs), equal({ $0.digest }, \.digest, Pool.blobs),
    equal({ $0.isOpen }, \.isOpen, [true, false]), equal({ $0.mark }, \.mark, [true, false]),
    choice({ $0.color }, \.color, Specimen.Color.allCases),
    choice({ $0.rank }, \.rank, Specimen.Rank.allCases),
    element({ $0.tags.contains($1) }, \.tags, Pool.allTexts),
    element({ $0.numbers.contains($1) }, { Array($0.numbers) }, Pool.integers),
    element({ $0.ratios.contains($1) }, \.ratios, Pool.doubles),
    // Down into embedded documents.
    ordered({ $0.base.lat }, \.base.lat, Pool.doubles), text({ $0.base.label }, \.base.label),
    ordered({ $0.base.alias }, \.base.alias, Pool.texts, TextOracle.normal),
    ordered({ $0.base.place.code }, \.base.place.code, Pool.integers),
    text({ $0.base.place.word }, \.base.place.word),
    ordered({ $0.site.lat }, \.site?.lat, Pool.doubles), text({ $0.site.label }, \.site?.label),
    ordered({ $0.site.visits }, \.site?.visits, Pool.integers),
    ordered({ $0.site.place.code }, \.site?.place.code, Pool.integers),
    text({ $0.site.place.word }, \.site?.place.word),
    // What is computed and not stored.
    ordered({ $0.title }, \.title, Pool.texts, TextOracle.normal), text({ $0.title }, \.title),
    ordered({ $0.total }, \.total, Pool.integers),
    equal({ $0.isHeavy }, \.isHeavy, [true, false]),
    equal({ $0.base.isNorth }, \.base.isNorth, [true, false]),
    equal({ $0.site.isNorth }, \.site?.isNorth, [true, false]),
    // Nil alone.
    { _ in Condition(filter: { $0.shade.isNil() }, holds: { $0.shade == nil }) },
    { _ in Condition(filter: { $0.site.isNil() }, holds: { $0.site == nil }) },
    { _ in Condition(filter: { $0.note.isNil() }, holds: { $0.note == nil }) },
    { _ in Condition(filter: { $0.total.isNil() }, holds: { $0.total == nil }) },
    { _ in Condition(filter: { $0.site.lat.isNil() }, holds: { $0.site?.lat == nil }) },
    // True fields without `== true`.
    { _ in Condition(filter: { !$0.isOpen }, holds: { !$0.isOpen }) },
    { _ in Condition(filter: { $0.isOpen && $0.isNew }, holds: { $0.isOpen && $0.isNew }) },
    { _ in Condition(filter: { $0.isOpen || $0.isHeavy }, holds: { $0.isOpen || $0.isHeavy }) },
    { _ in Condition(filter: { $0.isNew && !$0.isHeavy }, holds: { $0.isNew && !$0.isHeavy }) },
    { random in
      let first = leaf(&random)
      return Condition(
        filter: { $0.isNew || first.filter($0) }, holds: { $0.isNew || first.holds($0) })
    },
    { random in
      let first = leaf(&random)
      return Condition(
        filter: { first.filter($0) && $0.isOpen }, holds: { first.holds($0) && $0.isOpen })
    },
  ]
}

// MARK: Equality

extension Condition {
  static func equal<Value: Comparand>(
    _ field: @escaping Place<Value>, _ value: @escaping (Specimen) -> Value, _ pool: [Value]
  ) -> Leaf {
    { random in
      let (other, others) = (random.pick(pool), random.several(pool))
      switch random.int(0..<3) {
      case 0:
        return Condition(filter: { field($0) == other }, holds: { value($0) == other })
      case 1:
        return Condition(filter: { field($0) != other }, holds: { value($0) != other })
      default:
        return Condition(
          filter: { field($0).isIn(others) }, holds: { others.contains(value($0)) })
      }
    }
  }

  static func equal<Value: Comparand>(
    _ field: @escaping Place<Value?>, _ value: @escaping (Specimen) -> Value?, _ pool: [Value]
  ) -> Leaf {
    { random in
      let (other, others) = (random.maybe(pool), random.several(pool))
      switch random.int(0..<7) {
      case 0:
        return Condition(filter: { field($0) == nil }, holds: { value($0) == nil })
      case 1:
        return Condition(filter: { field($0) != nil }, holds: { value($0) != nil })
      case 2:
        return Condition(filter: { field($0).isNil() }, holds: { value($0) == nil })
      case 3:
        return Condition(filter: { field($0) == other }, holds: { value($0) == other })
      case 4:
        return Condition(filter: { field($0) != other }, holds: { value($0) != other })
      case 5:
        let others: [Value?] = others + [other]
        return Condition(
          filter: { field($0).isIn(others) }, holds: { others.contains(value($0)) })
      default:
        return Condition(
          filter: { field($0).isIn(others) },
          holds: { value($0).map { others.contains($0) } ?? false })
      }
    }
  }

  private static func choice<Value: RawRepresentable & Equatable & Sendable>(
    _ field: @escaping Place<Value>, _ value: @escaping (Specimen) -> Value, _ pool: [Value]
  ) -> Leaf where Value.RawValue: Comparand {
    { random in
      let (other, others) = (random.pick(pool), random.several(pool))
      switch random.int(0..<3) {
      case 0:
        return Condition(filter: { field($0) == other }, holds: { value($0) == other })
      case 1:
        return Condition(filter: { field($0) != other }, holds: { value($0) != other })
      default:
        return Condition(
          filter: { field($0).isIn(others) }, holds: { others.contains(value($0)) })
      }
    }
  }

  private static func element<Value: Equatable>(
    _ filter: @escaping (Fields<Specimen>, Value) -> Filter<Specimen>,
    _ values: @escaping (Specimen) -> [Value], _ pool: [Value]
  ) -> Leaf {
    { random in
      let other = random.pick(pool)
      return Condition(filter: { filter($0, other) }, holds: { values($0).contains(other) })
    }
  }
}

// MARK: Order

extension Condition {
  /// - Parameter normal: What Swift's `<` is asked about instead of the values.
  static func ordered<Value: Comparand & Comparable>(
    _ field: @escaping Place<Value>, _ value: @escaping (Specimen) -> Value, _ pool: [Value],
    _ normal: @escaping (Value) -> Value = { $0 }
  ) -> Leaf {
    let value = { normal(value($0)) }
    return { random in
      let (lower, upper) = (random.pick(pool), random.pick(pool))
      let (low, high) = (normal(lower), normal(upper))
      switch random.int(0..<10) {
      case 0: return Condition(filter: { field($0) < lower }, holds: { value($0) < low })
      case 1: return Condition(filter: { field($0) <= lower }, holds: { value($0) <= low })
      case 2: return Condition(filter: { field($0) > lower }, holds: { value($0) > low })
      case 3: return Condition(filter: { field($0) >= lower }, holds: { value($0) >= low })
      case 4 where low <= high && lower <= upper:
        return Condition(
          filter: { field($0).isIn(lower...upper) }, holds: { (low...high).contains(value($0)) })
      case 5 where low <= high && lower <= upper:
        return Condition(
          filter: { field($0).isIn(lower..<upper) }, holds: { (low..<high).contains(value($0)) })
      case 6 where low == low:  // Swift traps on a range from NaN.
        return Condition(
          filter: { field($0).isIn(lower...) }, holds: { (low...).contains(value($0)) })
      case 7 where low == low:
        return Condition(
          filter: { field($0).isIn(...lower) }, holds: { (...low).contains(value($0)) })
      case 8 where low == low:
        return Condition(
          filter: { field($0).isIn(..<lower) }, holds: { (..<low).contains(value($0)) })
      default: return equal(field, value, pool)(&random)
      }
    }
  }

  /// Nil is neither below nor above anything.
  static func ordered<Value: Comparand & Comparable>(
    _ field: @escaping Place<Value?>, _ value: @escaping (Specimen) -> Value?, _ pool: [Value],
    _ normal: @escaping (Value) -> Value = { $0 }
  ) -> Leaf {
    let value = { value($0).map(normal) }
    return { random in
      let (other, upper) = (random.pick(pool), random.pick(pool))
      let (low, high) = (normal(other), normal(upper))
      switch random.int(0..<10) {
      case 0:
        return Condition(
          filter: { field($0) < other }, holds: { value($0).map { $0 < low } ?? false })
      case 1:
        return Condition(
          filter: { field($0) <= other }, holds: { value($0).map { $0 <= low } ?? false })
      case 2:
        return Condition(
          filter: { field($0) > other }, holds: { value($0).map { $0 > low } ?? false })
      case 3:
        return Condition(
          filter: { field($0) >= other }, holds: { value($0).map { $0 >= low } ?? false })
      case 4 where low <= high && other <= upper:
        return Condition(
          filter: { field($0).isIn(other...upper) },
          holds: { value($0).map { (low...high).contains($0) } ?? false })
      case 5 where low <= high && other <= upper:
        return Condition(
          filter: { field($0).isIn(other..<upper) },
          holds: { value($0).map { (low..<high).contains($0) } ?? false })
      case 6 where low == low:  // Swift traps on a range from NaN.
        return Condition(
          filter: { field($0).isIn(other...) },
          holds: { value($0).map { (low...).contains($0) } ?? false })
      case 7 where low == low:
        return Condition(
          filter: { field($0).isIn(...other) },
          holds: { value($0).map { (...low).contains($0) } ?? false })
      case 8 where low == low:
        return Condition(
          filter: { field($0).isIn(..<other) },
          holds: { value($0).map { (..<low).contains($0) } ?? false })
      default: return equal(field, value, pool)(&random)
      }
    }
  }
}

// MARK: Text

extension Condition {
  static func text(
    _ field: @escaping Place<String>, _ value: @escaping (Specimen) -> String
  ) -> Leaf {
    { random in
      let part = random.pick(Pool.texts)
      switch random.int(0..<3) {
      case 0:
        return Condition(
          filter: { field($0).hasPrefix(part) }, holds: { TextOracle.hasPrefix(value($0), part) })
      case 1:
        return Condition(
          filter: { field($0).hasSuffix(part) }, holds: { TextOracle.hasSuffix(value($0), part) })
      default:
        return Condition(
          filter: { field($0).contains(part) }, holds: { TextOracle.contains(value($0), part) })
      }
    }
  }

  static func text(
    _ field: @escaping Place<String?>, _ value: @escaping (Specimen) -> String?
  ) -> Leaf {
    { random in
      let part = random.pick(Pool.texts)
      switch random.int(0..<3) {
      case 0:
        return Condition(
          filter: { field($0).hasPrefix(part) },
          holds: { value($0).map { TextOracle.hasPrefix($0, part) } ?? false })
      case 1:
        return Condition(
          filter: { field($0).hasSuffix(part) },
          holds: { value($0).map { TextOracle.hasSuffix($0, part) } ?? false })
      default:
        return Condition(
          filter: { field($0).contains(part) },
          holds: { value($0).map { TextOracle.contains($0, part) } ?? false })
      }
    }
  }
}
