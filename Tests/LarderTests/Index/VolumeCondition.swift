import LarderTestKit

@testable import Larder

/// The same condition three times: for a type, without a type, and as Swift's own operators.
struct VolumeCondition {
  let filter: (Fields<Volume>) -> Filter<Volume>
  let untyped: DynamicFilter
  let holds: (Volume) -> Bool

  /// Conditions on the same few fields, so that indexes have several to bring together.
  static func random(_ texts: [String], depth: Int, using random: inout RandomSource) -> Self {
    guard depth > 0, !random.once(in: 8) else { return leaf(texts, &random) }
    let parts = (0..<random.int(2..<4)).map { _ in
      Self.random(texts, depth: depth - 1, using: &random)
    }
    switch random.int(0..<6) {
    case 0: return !parts[0]
    case 1, 2: return parts.dropFirst().reduce(parts[0], ||)
    default: return parts.dropFirst().reduce(parts[0], &&)
    }
  }

  private static func leaf(_ texts: [String], _ random: inout RandomSource) -> Self {
    switch random.int(0..<10) {
    case 0:
      let shelf = random.int(0..<3)
      return Self(
        filter: { $0.shelf == shelf },
        untyped: DynamicFields().shelf == .integer(Int64(shelf)),
        holds: { $0.shelf == shelf })
    case 1, 2:
      let tag = random.pick(texts)
      return Self(
        filter: { $0.tags.contains(tag) },
        untyped: DynamicFields().tags.contains(.string(tag)),
        holds: { $0.tags.contains(tag) })
    case 3:
      let alias = random.pick(texts)
      let normal = TextOracle.normal(alias)
      return Self(
        filter: { $0.alias <= alias }, untyped: DynamicFields().alias <= .string(alias),
        holds: { $0.alias.map { TextOracle.normal($0) <= normal } ?? false })
    default: return path(texts, &random)
    }
  }

  private static func path(_ texts: [String], _ random: inout RandomSource) -> Self {
    let text = random.pick(texts)
    let normal = TextOracle.normal(text)
    let value = Value.string(text)
    let field = DynamicFields().path
    func compared(_ holds: @escaping (String) -> Bool) -> (Volume) -> Bool {
      { holds(TextOracle.normal($0.path)) }
    }
    switch random.int(0..<9) {
    case 0:
      return Self(filter: { $0.path == text }, untyped: field == value, holds: { $0.path == text })
    case 1, 2:
      return Self(
        filter: { $0.path < text }, untyped: field < value, holds: compared { $0 < normal })
    case 3:
      return Self(
        filter: { $0.path <= text }, untyped: field <= value, holds: compared { $0 <= normal })
    case 4, 5:
      return Self(
        filter: { $0.path > text }, untyped: field > value, holds: compared { $0 > normal })
    case 6:
      return Self(
        filter: { $0.path >= text }, untyped: field >= value, holds: compared { $0 >= normal })
    case 7:
      let several = [text] + random.several(texts)
      return Self(
        filter: { $0.path.isIn(several) }, untyped: field.isIn(several.map(Value.string)),
        holds: { several.contains($0.path) })
    default:
      let beginning = String(text.prefix(random.int(0..<text.count + 1)))
      return Self(
        filter: { $0.path.hasPrefix(beginning) }, untyped: field.hasPrefix(beginning),
        holds: { TextOracle.hasPrefix($0.path, beginning) })
    }
  }

  static func && (left: Self, right: Self) -> Self {
    Self(
      filter: { left.filter($0) && right.filter($0) }, untyped: left.untyped && right.untyped,
      holds: { left.holds($0) && right.holds($0) })
  }

  static func || (left: Self, right: Self) -> Self {
    Self(
      filter: { left.filter($0) || right.filter($0) }, untyped: left.untyped || right.untyped,
      holds: { left.holds($0) || right.holds($0) })
  }

  static prefix func ! (condition: Self) -> Self {
    Self(
      filter: { !condition.filter($0) }, untyped: !condition.untyped,
      holds: { !condition.holds($0) })
  }
}
