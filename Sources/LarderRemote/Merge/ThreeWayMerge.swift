internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Merges two versions of a document that began as the same, field by field.
///
/// The same three documents always give the same result.
struct ThreeWayMerge {
  let rules: MergeRules
  /// Whether both began with nothing. Otherwise a field without an earlier value had none, or it is not
  /// known.
  let beganWithNothing: Bool

  func merge(
    _ before: DynamicDocument?, here: DynamicDocument, there: DynamicDocument
  ) -> DynamicDocument {
    merge(
      before, here: here, there: there, beganWithNothing: before == nil && beganWithNothing, at: [])
  }

  private func merge(
    _ before: DynamicDocument?, here: DynamicDocument, there: DynamicDocument,
    beganWithNothing: Bool, at path: [String]
  ) -> DynamicDocument {
    // In the remote's order, as it is most likely what stands there.
    var merged = there
    let names = there.fields.map(\.name) + here.fields.map(\.name).filter { there[$0] == nil }
    for name in names {
      merged[name] = value(
        before?[name], here: here[name], there: there[name], isKnown: before != nil,
        beganWithNothing: beganWithNothing, at: path + [name])
    }
    return merged
  }

  /// - Parameter isKnown: Whether it is known what the field was before.
  private func value(
    _ before: Value?, here: Value?, there: Value?, isKnown: Bool, beganWithNothing: Bool,
    at path: [String]
  ) -> Value? {
    let rule = rules.rule(path) ?? .lastWriter
    if isKnown, here == before { return there }
    if isKnown, there == before { return here }
    // Two who have added the same have added it twice.
    if case .counter = rule, isKnown || beganWithNothing {
      return counter(before, here: here, there: there)
    }
    if here == there { return here }
    switch rule {
    case .lastWriter:
      return lastWriter(
        before, here: here, there: there, isKnown: isKnown, beganWithNothing: beganWithNothing,
        at: path)
    // Of numbers that began as something unknown nobody can say what was added.
    case .counter: return here
    case .set: return union(before, here: here, there: there)
    case .max: return here.isBelow(there) ? there : here
    case .custom(let merge): return merge(before, here, there)
    }
  }

  private func lastWriter(
    _ before: Value?, here: Value?, there: Value?, isKnown: Bool, beganWithNothing: Bool,
    at path: [String]
  ) -> Value? {
    guard case .document(let here)? = here, case .document(let there)? = there else {
      // What the document lacked when it was made here says nothing of what it has there.
      return here ?? (beganWithNothing ? there : nil)
    }
    var old: DynamicDocument?
    if case .document(let document)? = before { old = document }
    // Where both have added it, each of its fields was added.
    let beganWithNothing = old == nil && (isKnown || beganWithNothing)
    return .document(
      merge(old, here: here, there: there, beganWithNothing: beganWithNothing, at: path))
  }

  private func counter(_ before: Value?, here: Value?, there: Value?) -> Value? {
    let start = before ?? .integer(0)
    let (here, there) = (here ?? .integer(0), there ?? .integer(0))
    if let start = start.wholeNumber, let hereNumber = here.wholeNumber,
      let thereNumber = there.wholeNumber
    {
      // What the field may not be able to hold stays with the larger one.
      let larger = hereNumber < thereNumber ? there : here
      let sum = Value(wholeNumber: thereNumber + (hereNumber - start))
      if case .unsigned? = sum, case .integer = larger { return larger }
      return sum ?? larger
    }
    if [start, here, there].contains(where: { if case .decimal = $0 { true } else { false } }) {
      guard let start = start.decimal, let here = here.decimal, let there = there.decimal else {
        return here
      }
      return .decimal(there + (here - start))
    }
    guard let start = start.number, let hereNumber = here.number, let there = there.number else {
      return here
    }
    return .double(there + (hereNumber - start))
  }

  private func union(_ before: Value?, here: Value?, there: Value?) -> Value? {
    guard case .array(let here)? = here ?? .array([]), case .array(let there)? = there ?? .array([])
    else { return here }
    var old: Set<Value> = []
    if case .array(let values)? = before { old = Set(values) }
    let (kept, known) = (Set(here), Set(there))
    var result = there.filter { kept.contains($0) || !old.contains($0) }
    var seen = known
    for value in here where !old.contains(value) && seen.insert(value).inserted {
      result.append(value)
    }
    return .array(result)
  }
}

extension Value {
  /// An integer of either kind, with room to add two of them up.
  fileprivate var wholeNumber: Int128? {
    switch self {
    case .integer(let value): Int128(value)
    case .unsigned(let value): Int128(value)
    default: nil
    }
  }

  fileprivate init?(wholeNumber: Int128) {
    if let value = Int64(exactly: wholeNumber) {
      self = .integer(value)
    } else if let value = UInt64(exactly: wholeNumber) {
      self = .unsigned(value)
    } else {
      return nil
    }
  }

  fileprivate var decimal: Decimal? {
    switch self {
    case .integer(let value): Decimal(value)
    case .unsigned(let value): Decimal(value)
    case .decimal(let value): value
    default: nil
    }
  }

  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }
}

extension Value? {
  /// Whether it comes before another of its kind; what cannot be compared does not.
  fileprivate func isBelow(_ other: Value?) -> Bool {
    switch (self, other) {
    case (nil, .some), (.null?, .some): true
    case (.date(let a)?, .date(let b)?): a < b
    case (.decimal(let a)?, .decimal(let b)?): a < b
    case (.string(let a)?, .string(let b)?):
      a.unicodeScalars.lexicographicallyPrecedes(b.unicodeScalars)
    case (.bool(let a)?, .bool(let b)?): !a && b
    case (let a?, let b?):
      if let a = a.wholeNumber, let b = b.wholeNumber {
        a < b
      } else if let a = a.number, let b = b.number {
        a < b
      } else {
        false
      }
    default: false
    }
  }
}
