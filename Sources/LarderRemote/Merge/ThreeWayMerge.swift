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

  /// - Throws: When a closure of a rule does.
  func merge(
    _ before: DynamicDocument?, here: DynamicDocument, there: DynamicDocument
  ) throws(MergeFailure) -> DynamicDocument {
    try merge(
      before, here: here, there: there, beganWithNothing: before == nil && beganWithNothing, at: [])
  }

  private func merge(
    _ before: DynamicDocument?, here: DynamicDocument, there: DynamicDocument,
    beganWithNothing: Bool, at path: [String]
  ) throws(MergeFailure) -> DynamicDocument {
    // In the remote's order, as it is most likely what stands there.
    var merged = there
    let names = there.fields.map(\.name) + here.fields.map(\.name).filter { there[$0] == nil }
    for name in names {
      merged[name] = try value(
        Versions(before: before?[name], here: here[name], there: there[name]),
        isKnown: before != nil, beganWithNothing: beganWithNothing, at: path + [name])
    }
    return merged
  }

  private struct Versions {
    var before: Value?
    var here: Value?
    var there: Value?
  }

  /// - Parameter isKnown: Whether it is known what the field was before.
  private func value(
    _ stored: Versions, isKnown: Bool, beganWithNothing: Bool, at path: [String]
  ) throws(MergeFailure) -> Value? {
    let rule = rules.rule(path)
    let field = rules.field(path)
    // A document that was written before the field existed is read as if it had the default.
    lazy var absent = field?.mergedAbsentValue
    var read = stored
    if isKnown { read.before = stored.before ?? absent }
    read.here = stored.here ?? absent
    read.there = stored.there ?? absent
    if isKnown, read.here == read.before { return stored.there }
    if isKnown, read.there == read.before { return stored.here }
    // Two who have added the same have added it twice.
    if case .counter = rule, isKnown || beganWithNothing {
      if beganWithNothing { read.before = absent }
      // Nobody has counted.
      if read.here.isNothing, read.there.isNothing { return stored.there ?? stored.here }
      return counter(read, field)
    }
    // Equal documents may have counters in them, of which the same holds.
    let hasFields =
      if case .document? = stored.here, case .lastWriter = rule { isKnown || beganWithNothing } else
      { false }
    if read.here == read.there, !hasFields { return stored.there ?? stored.here }
    switch rule {
    case .lastWriter:
      var versions = stored
      // An embedded document that was added, by one or by both, began as its initial value.
      if isKnown || beganWithNothing { versions.before = stored.before ?? absent }
      return try lastWriter(
        versions, isKnown: isKnown, beganWithNothing: beganWithNothing, at: path)
    // Of numbers that began as something unknown nobody can say what was added.
    case .counter: return stored.here
    case .set: return union(read)
    case .max: return read.here.isBelow(read.there) ? read.there : read.here
    case .custom(let merge):
      do {
        return try merge(read.before, read.here, read.there)
      } catch {
        throw MergeFailure(field: path.joined(separator: "."), reason: "\(error)")
      }
    }
  }

  private func lastWriter(
    _ versions: Versions, isKnown: Bool, beganWithNothing: Bool, at path: [String]
  ) throws(MergeFailure) -> Value? {
    guard case .document(let here)? = versions.here, case .document(let there)? = versions.there
    else {
      // Of a document that both have made, what it lacks here, or still has as it was made, says nothing of what it
      // has there.
      if beganWithNothing, versions.here == nil || versions.here == versions.before {
        return versions.there ?? versions.here
      }
      return versions.here
    }
    var old: DynamicDocument?
    if case .document(let document)? = versions.before { old = document }
    // Where both have added it, each of its fields was added.
    let beganWithNothing = old == nil && (isKnown || beganWithNothing)
    return .document(
      try merge(old, here: here, there: there, beganWithNothing: beganWithNothing, at: path))
  }

  /// Nil counts as 0. A sum that the field may not be able to hold stays with the larger side.
  private func counter(_ versions: Versions, _ field: FieldDescription?) -> Value? {
    let start = versions.before.orZero
    let (here, there) = (versions.here.orZero, versions.there.orZero)
    if let start = start.wholeNumber, let hereNumber = here.wholeNumber,
      let thereNumber = there.wholeNumber
    {
      let larger = hereNumber < thereNumber ? there : here
      guard let sum = Value(wholeNumber: thereNumber + (hereNumber - start)),
        field?.holds(sum) ?? true
      else { return larger }
      if case .unsigned = sum, case .integer = larger, field == nil { return larger }
      return sum
    }
    if [start, here, there].contains(where: { if case .decimal = $0 { true } else { false } }) {
      guard let start = start.decimal, let here = here.decimal, let there = there.decimal else {
        return versions.here
      }
      return .decimal(there + (here - start))
    }
    guard let start = start.number, let hereNumber = here.number, let there = there.number else {
      return versions.here
    }
    return .double(there + (hereNumber - start))
  }

  private func union(_ versions: Versions) -> Value? {
    guard case .array(let here) = versions.here.orNone,
      case .array(let there) = versions.there.orNone
    else { return versions.here }
    var old: Set<Value> = []
    if case .array(let values)? = versions.before { old = Set(values) }
    let (kept, known) = (Set(here), Set(there))
    var result = there.filter { kept.contains($0) || !old.contains($0) }
    var seen = known
    for value in here where !old.contains(value) && seen.insert(value).inserted {
      result.append(value)
    }
    return .array(result)
  }
}

extension Value? {
  fileprivate var isNothing: Bool { self == nil || self == .null }
  fileprivate var orZero: Value { self == nil || self == .null ? .integer(0) : self! }
  fileprivate var orNone: Value { self == nil || self == .null ? .array([]) : self! }
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
