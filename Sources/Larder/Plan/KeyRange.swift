#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Keys from one on and up to another, in the order of their bytes.
struct KeyRange: Sendable, Equatable {
  /// The first key.
  var lower: [UInt8]
  /// The first key behind the range; nil where there is none.
  var upper: [UInt8]?

  static let everything = KeyRange(lower: [], upper: nil)

  /// All keys that begin with `prefix`.
  init(prefix: [UInt8]) {
    lower = prefix
    upper = Self.successor(of: prefix)
  }

  init(lower: [UInt8], upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  var isEmpty: Bool {
    guard let upper else { return false }
    return Bytes.compare(lower, upper) >= 0
  }

  /// This range behind `prefix`, cut as entries are.
  func behind(_ prefix: [UInt8]) -> KeyRange {
    let limit = CollectionIndex.maximumValueByteCount
    var lower = prefix + lower
    if lower.count > limit { lower.removeLast(lower.count - limit) }
    var upper = upper.map { prefix + $0 } ?? Self.successor(of: prefix)
    if let end = upper, end.count > limit { upper = Self.successor(of: Array(end.prefix(limit))) }
    return KeyRange(lower: lower, upper: upper)
  }

  /// The same values where they are kept complemented.
  ///
  /// What begins with a bound is on the same side of it either way, so that the bounds are not
  /// just exchanged.
  var complemented: KeyRange {
    KeyRange(
      lower: upper.flatMap { Self.successor(of: $0.map { ~$0 }) } ?? [],
      upper: lower.isEmpty ? nil : Self.successor(of: lower.map { ~$0 }))
  }

  /// The first key that comes behind all that begin with `bytes`; nil where there is none.
  static func successor(of bytes: [UInt8]) -> [UInt8]? {
    guard let place = bytes.lastIndex(where: { $0 < 0xFF }) else { return nil }
    var next = Array(bytes[...place])
    next[place] += 1
    return next
  }
}

extension KeyRange {
  /// The documents' keys that a comparison of the key field holds for; nil where they are no
  /// range.
  init?(_ comparison: Comparison, keysOf kind: KeyKind) {
    guard case .compare(let relation, let value) = comparison, relation != .equal,
      let key = value.encodedKey(of: kind)
    else { return nil }
    switch relation {
    case .equal, .less: self.init(lower: [], upper: key)
    case .lessOrEqual: self.init(lower: [], upper: key + [0])
    case .greater: self.init(lower: key + [0], upper: nil)
    case .greaterOrEqual: self.init(lower: key, upper: nil)
    }
  }

  func intersection(_ other: KeyRange) -> KeyRange {
    let upper: [UInt8]? =
      switch (upper, other.upper) {
      case (nil, let end), (let end, nil): end
      case (let end?, let otherEnd?): Bytes.compare(end, otherEnd) < 0 ? end : otherEnd
      }
    return KeyRange(
      lower: Bytes.compare(lower, other.lower) < 0 ? other.lower : lower, upper: upper)
  }
}

/// The values of one index part that a comparison may hold for.
struct PartRanges {
  var ranges: [KeyRange]
  /// Whether the comparison holds for all of them, so that no document has to be asked. Where there are
  /// ``ends``, it holds for those that pass them.
  var isExact = true
  /// Whether each range is a single value.
  var isEquality = true
  /// Offsets in the encoded value of bytes that stand behind a prefix.
  ///
  /// Swift's prefixes are of whole characters: the prefix is one where no character begins in it that
  /// goes on behind it. See ``PrefixEnd``.
  var ends: [Int] = []

  static let nothing = PartRanges(ranges: [])

  /// Nil where the index cannot tell anything, and for a list of more than so many values.
  init?(_ comparison: Comparison, _ part: IndexDefinition.Part, listLimit: Int = maximumCount) {
    if case .isAny(let values) = comparison, values.count > listLimit { return nil }
    guard part.isMultiple else {
      self.init(ofOne: comparison, part)
      return
    }
    switch comparison {
    case .containsElement(let value):
      guard value != .null else { return nil }
      self.init(ofOne: .equal(value), part)
    case .containsMatch(let condition): self.init(ofElement: condition, part)
    default: return nil
    }
  }

  /// The elements that a condition may hold for: it is one element that has to fulfil all its parts.
  private init?(ofElement condition: FilterNode, _ part: IndexDefinition.Part) {
    let conditions = if case .conjunction(let parts) = condition { parts } else { [condition] }
    var found: PartRanges?
    var isWhole = true
    for condition in conditions {
      guard case .test(.field(let path), let comparison) = condition.listed, path.count == 1,
        comparison != .equal(.null), let ranges = PartRanges(ofOne: comparison, part)
      else {
        isWhole = false
        continue
      }
      found = found.map { $0.intersection(ranges) } ?? ranges
    }
    guard var found else { return nil }
    if !isWhole { found.isExact = false }
    self = found
  }

  /// What a comparison of a single value, or of one element, may hold for.
  private init?(ofOne comparison: Comparison, _ part: IndexDefinition.Part) {
    switch comparison {
    case .compare(.equal, let value):
      guard let range = Self.equal(value, part) else { return nil }
      self = range
    case .isAny(let values):
      guard values.count <= Self.maximumCount else { return nil }
      self = .nothing
      for value in values where value != .null {
        guard let range = Self.equal(value, part) else { return nil }
        ranges += range.ranges
      }
    case .compare(let relation, let value):
      guard let range = Self.ordered(relation, value, part) else { return nil }
      self = range
    case .hasPrefix(let text) where part.scalar == .string: self = Self.beginning(with: text)
    default: return nil
    }
    if part.isDescending {
      ranges = ranges.map { range in
        isEquality ? KeyRange(prefix: range.lower.map { ~$0 }) : range.complemented
      }
    }
    if ranges.count > 1 { ranges.sort { Bytes.compare($0.lower, $1.lower) < 0 } }
    if isEquality { removeRepeated() }
  }

  /// Different values may be one to an index: `Float` has fewer than `Double`.
  private mutating func removeRepeated() {
    var last: KeyRange?
    ranges.removeAll { range in
      defer { last = range }
      return range == last
    }
  }

  private init(ranges: [KeyRange], isExact: Bool = true, isEquality: Bool = true) {
    self.ranges = ranges
    self.isExact = isExact
    self.isEquality = isEquality
  }

  /// More values than this are better looked for otherwise.
  ///
  /// Measured on a busy machine with a list of 1,000 values, half of which are found: an index takes 2.4 ms among
  /// 100,000 documents and 8.8 ms among 1,000,000; looking at each document takes 53 ms and 443 ms. Each value
  /// costs 1.5 us before anything is found, so if there are few documents it is better to look at these:
  /// see ``Planner/listLimit(_:)``.
  static let maximumCount = 4096

  private static let maximumPairCount = 65_536

  private static func beginning(with text: String) -> PartRanges {
    var bytes = OrderedBytes(capacity: text.utf8.count + 16)
    var normal = text.normalized()
    let isPlain = normal.withUTF8 { text in
      let text = UnsafeRawBufferPointer(text)
      bytes.put(
        prefix: text, tag: IndexTag.string, limit: CollectionIndex.maximumValueByteCount)
      return text.isComposed && !text.hasBreak
    }
    var result = PartRanges(
      ranges: [KeyRange(prefix: [UInt8](bytes.bytes))], isExact: isPlain, isEquality: false)
    if isPlain { result.ends = [bytes.count] }
    return result
  }

  private static func equal(_ value: Value, _ part: IndexDefinition.Part) -> PartRanges? {
    // NaN equals nothing.
    if value != .null, !value.isEqual(to: value) { return .nothing }
    guard let bytes = encoded(value, part) else { return nil }
    // Canonical equivalents are equal as text; URLs and data are compared by the document.
    return PartRanges(ranges: [KeyRange(prefix: bytes)], isExact: part.scalar != .url)
  }

  private static func ordered(
    _ relation: Relation, _ value: Value, _ part: IndexDefinition.Part
  ) -> PartRanges? {
    let isUpper = relation.isUpperBound
    let includes = relation == .lessOrEqual || relation == .greaterOrEqual
    if value == .null { return .nothing }
    guard let bytes = encoded(value, part), let tags = part.scalar.orderedTags else { return nil }
    // Kinds whose NaN is in some order are left to Swift.
    if case .decimal(let value) = value, value.isNaN { return nil }
    if !value.isEqual(to: value) { return part.scalar == .date ? nil : .nothing }
    var result =
      if isUpper {
        PartRanges(
          ranges: [
            KeyRange(
              lower: [tags.lowerBound], upper: includes ? KeyRange.successor(of: bytes) : bytes)
          ], isEquality: false)
      } else {
        PartRanges(
          ranges: [
            KeyRange(
              lower: includes ? bytes : KeyRange.successor(of: bytes) ?? [],
              upper: [tags.upperBound + 1])
          ], isEquality: false)
      }
    switch part.scalar {
    case .date where includes:
      // `Date` has `<=` from `Comparable`, so that it holds for a date that is NaN.
      result.ranges.append(KeyRange(prefix: [IndexTag.dateNotANumber]))
    case .decimal:
      result.ranges.append(KeyRange(prefix: [IndexTag.decimalNotANumber]))
      result.isExact = false
    default: break
    }
    result.ranges.removeAll { $0.isEmpty }
    return result
  }

  private static func encoded(_ value: Value, _ part: IndexDefinition.Part) -> [UInt8]? {
    var bytes = OrderedBytes(capacity: 64)
    // Whole, for the hash of what is cut, and because two bounds may be alike up to the cut; where
    // the hash is not looked for, ranges are cut by `behind`, once they have met.
    bytes.put(value, as: part.scalar, limit: limit)
    // A value of another kind: nothing can be said.
    return bytes.bytes[0] == IndexTag.unreadable ? nil : [UInt8](bytes.bytes)
  }

  private static var limit: Int {
    #if LARDER_MUTANTS
      if Mutant.cutBounds.isOn { return CollectionIndex.maximumValueByteCount }
    #endif
    return IndexEncoder.noLimit
  }

  /// The values that both have; of two long lists the shorter one, which has others beside them.
  func intersection(_ other: PartRanges) -> PartRanges {
    if ranges.count * other.ranges.count > Self.maximumPairCount {
      var shorter = ranges.count < other.ranges.count ? self : other
      shorter.isExact = false
      return shorter
    }
    var common: [KeyRange] = []
    for first in ranges {
      for second in other.ranges {
        let range = first.intersection(second)
        if !range.isEmpty { common.append(range) }
      }
    }
    var result = PartRanges(
      ranges: common, isExact: isExact && other.isExact, isEquality: isEquality || other.isEquality)
    result.ends = ends + other.ends
    return result
  }
}

extension IndexScalar {
  /// The tags of the values that are smaller or larger than each other.
  fileprivate var orderedTags: ClosedRange<UInt8>? {
    switch self {
    case .integer: IndexTag.zero - 8...IndexTag.zero + 8
    case .double, .float: IndexTag.double...IndexTag.double
    case .string: IndexTag.string...IndexTag.string
    case .date: IndexTag.date...IndexTag.date
    case .uuid: IndexTag.uuid...IndexTag.uuid
    case .decimal: IndexTag.decimal...IndexTag.decimal
    case .bool, .url, .data: nil
    }
  }
}
