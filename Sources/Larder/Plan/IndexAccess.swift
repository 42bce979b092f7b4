/// One way to have an index find documents: where in it to look, and what is left to ask.
struct IndexAccess {
  let index: CollectionIndex
  /// Where entries lie, in the order of the index.
  var ranges: [KeyRange]
  /// Of a page in reverse order, where it begins in the run of the entries that the order does not tell from
  /// the last one of the page before; nil where only the documents tell.
  var pageStart: [UInt8]?
  /// Leading parts that have one value each throughout; the order of the index is that of the
  /// parts behind them.
  let fixedPartCount: Int
  /// Conditions that every entry in the ranges fulfils, by their place in the conjunction, if it is one
  /// that ``settles(_:_:)`` says so of.
  let settled: ConditionPlaces
  /// Where prefixes end in the entries.
  private let ends: [PrefixEnd]
  /// Whether the conditions narrow it down at all.
  let isNarrowed: Bool

  /// - Parameters:
  ///   - conditions: What holds together.
  ///   - listLimit: Lists of more values than this are not looked for.
  /// - Returns: Nil where the index does not have all documents that fulfil them.
  init?(
    _ index: CollectionIndex, _ conditions: [FilterNode],
    listLimit: Int = PartRanges.maximumCount
  ) {
    guard index.isComplete, !index.isOfWords else { return nil }
    var settled = ConditionPlaces()
    if let filter = index.filter {
      guard let implied = Self.implied(filter, by: conditions) else { return nil }
      settled = implied
    }
    // What entries begin with, as far as parts have one value each: nearly always one way.
    var prefix: [UInt8] = []
    var otherPrefixes: [[UInt8]] = []
    var ranges: [KeyRange]?
    var fixed = 0
    var ends: [PrefixEnd] = []
    var isNarrowed = false
    var isOpen = true
    for part in index.definition.parts {
      let found = isOpen ? Self.ranges(part, conditions, listLimit) : nil
      // The values of two lists come together in as many ways as their counts multiplied.
      let isFew = found.map {
        otherPrefixes.isEmpty
          || (1 + otherPrefixes.count) * $0.0.ranges.count
            <= max(listLimit, Self.maximumPrefixCount)
      }
      guard let (values, places) = found, isFew == true else {
        // Without a value for it, a document would be found once for each element, or never.
        if part.isMultiple { return nil }
        isOpen = false
        continue
      }
      isNarrowed = true
      let longest = otherPrefixes.reduce(prefix.count) { max($0, $1.count) }
      let isWhole = values.ranges.allSatisfy {
        longest + max($0.lower.count, $0.upper?.count ?? 0) <= CollectionIndex.maximumValueByteCount
      }
      // Two elements of one document may be alike up to the cut.
      if part.isMultiple, !isWhole { return nil }
      if values.isExact, isWhole, values.ends.isEmpty || otherPrefixes.isEmpty {
        settled.formUnion(places)
        let start = prefix.count
        ends += values.ends.map { PrefixEnd(offset: start + $0, mask: part.mask) }
      }
      let isOne = otherPrefixes.isEmpty && values.ranges.count == 1
      if values.isEquality, isWhole, isOne {
        fixed += 1
        // Alone, the value has the range already.
        ranges = prefix.isEmpty ? values.ranges : nil
        prefix += values.ranges[0].lower
        continue
      }
      if values.isEquality, isOne,
        let hashed = Self.cutRange(prefix + values.ranges[0].lower),
        fixed == index.parts.count - 1
      {
        ranges = [hashed]
        isOpen = false
        continue
      }
      let count = (1 + otherPrefixes.count) * values.ranges.count
      if values.isEquality, isWhole, 1...Self.maximumPrefixCount ~= count {
        let all = ([prefix] + otherPrefixes).flatMap { prefix in
          values.ranges.map { prefix + $0.lower }
        }
        prefix = all[0]
        otherPrefixes = Array(all.dropFirst())
        ranges = nil
      } else if prefix.isEmpty, isOne, isWhole {
        ranges = values.ranges
        isOpen = false
      } else if isOne {
        ranges = [values.ranges[0].behind(prefix)]
        isOpen = false
      } else {
        ranges = ([prefix] + otherPrefixes).flatMap { prefix in
          values.ranges.map { $0.behind(prefix) }
        }
        isOpen = false
      }
    }
    self.index = index
    let isEverything = prefix.isEmpty && otherPrefixes.isEmpty
    let found =
      ranges
      ?? (isEverything ? [.everything] : ([prefix] + otherPrefixes).map { KeyRange(prefix: $0) })
    fixedPartCount = found.count > 1 ? 0 : fixed
    self.ranges = Self.merged(found)
    self.settled = settled
    self.ends = ends
    self.isNarrowed = isNarrowed || index.filter != nil
  }

  private static let maximumPrefixCount = 256

  /// Where entries of just these values lie, if they are cut: their hash stands behind the cut.
  private static func cutRange(_ values: [UInt8]) -> KeyRange? {
    guard values.count > CollectionIndex.maximumValueByteCount else { return nil }
    return KeyRange(prefix: IndexEntry.cutValues(values))
  }

  /// The values of a part that its conditions allow, with the places of those conditions.
  private static func ranges(
    _ part: IndexDefinition.Part, _ conditions: [FilterNode], _ listLimit: Int
  ) -> (PartRanges, ConditionPlaces)? {
    var result: PartRanges?
    var places = ConditionPlaces()
    for (place, condition) in conditions.enumerated() {
      guard case .test(.field(let path), let comparison) = condition, part.agrees(with: path),
        let ranges = PartRanges(comparison, part, listLimit: listLimit)
      else { continue }
      // Elements are looked for one at a time: two values are in two entries.
      if part.isMultiple, result != nil { continue }
      result = result.map { $0.intersection(ranges) } ?? ranges
      places.insert(place)
    }
    return result.map { ($0, places) }
  }

  /// The places of the conditions that say what the index's own condition says; nil where they do
  /// not say all of it.
  private static func implied(
    _ filter: FilterNode, by conditions: [FilterNode]
  ) -> ConditionPlaces? {
    let known = conditions.map { $0.withOrderedLists.listed.encoded() }
    let parts: [FilterNode] = if case .conjunction(let parts) = filter { parts } else { [filter] }
    var places = ConditionPlaces()
    for part in parts {
      let encoded = part.listed.encoded()
      let matching = known.indices.filter { known[$0] != nil && known[$0] == encoded }
      if matching.isEmpty { return nil }
      for place in matching { places.insert(place) }
    }
    return places
  }

  /// The ranges in their order, without those inside others.
  private static func merged(_ ranges: [KeyRange]) -> [KeyRange] {
    if ranges.count == 1 { return ranges[0].isEmpty ? [] : ranges }
    var result: [KeyRange] = []
    let sorted = ranges.filter { !$0.isEmpty }
      .sorted { Bytes.compare($0.lower, $1.lower) < 0 }
    for range in sorted {
      guard let last = result.last else {
        result.append(range)
        continue
      }
      if let end = last.upper, Bytes.compare(range.lower, end) >= 0 {
        result.append(range)
        continue
      }
      let reachesFurther =
        switch (last.upper, range.upper) {
        case (nil, _): false
        case (_, nil): true
        case (let end?, let otherEnd?): Bytes.compare(end, otherEnd) < 0
        }
      if reachesFurther { result[result.count - 1].upper = range.upper }
    }
    return result
  }

  /// Whether entries of one range come in the order of the documents' keys.
  var isInKeyOrder: Bool { ranges.count <= 1 && fixedPartCount == index.parts.count }

  /// Whether no two entries in the ranges name the same document: it has one for each of its elements.
  var findsEachOnce: Bool {
    !index.hasElements || index.definition.parts[..<fixedPartCount].contains { $0.isMultiple }
  }

  /// Whether every entry settles the conditions that are settled, unless its values are cut.
  var settlesAll: Bool { ends.isEmpty }

  /// Whether an entry in the ranges, by itself, says that its document fulfils the settled conditions.
  @inline(__always)
  func settles(_ entry: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    if IndexEntry.isCut(value) { return false }
    for end in ends where !end.isClear(in: entry) { return false }
    return true
  }

  /// How the entries stand to an order: nil where they do not have it.
  func direction(for order: [SortKey]) -> IndexOrder? {
    guard ranges.count <= 1, !order.isEmpty, findsEachOnce else { return nil }
    let parts = index.definition.parts
    var place = fixedPartCount
    var isReversed: Bool?
    for key in order {
      guard case .field(let path) = key.operand else { return nil }
      if parts[..<fixedPartCount].contains(where: { !$0.isMultiple && $0.agrees(with: path) }) {
        continue
      }
      guard place < parts.count, !parts[place].isMultiple, parts[place].agrees(with: path) else {
        return nil
      }
      let needsReverse = key.isReversed != parts[place].isDescending
      if let isReversed, isReversed != needsReverse { return nil }
      isReversed = needsReverse
      place += 1
    }
    return IndexOrder(
      partCount: place, isReversed: isReversed ?? false, isWhole: place == parts.count)
  }
}

/// The place in an entry right behind the prefix that a condition asks for.
///
/// Prefixes are of whole characters: "x\u{301}" does not begin with "x". A prefix of which every scalar
/// is a character of its own ends with a character where the text ends, or goes on with a scalar below
/// U+0300: none of these joins the one in front of it.
struct PrefixEnd {
  let offset: Int
  /// `0xFF` for values that are kept complemented.
  let mask: UInt8

  @inline(__always) func isClear(in entry: UnsafeRawBufferPointer) -> Bool {
    offset < entry.count && entry[offset] ^ mask < 0xCC
  }
}

/// An order that an index has.
struct IndexOrder {
  /// Leading parts in which documents that follow each other may be equal only if the order does
  /// not tell them apart.
  let partCount: Int
  let isReversed: Bool
  /// Whether no other part stands between these and the documents' keys.
  let isWhole: Bool
}

extension IndexDefinition.Part {
  /// Whether this part holds what a query's operand reads: the same field as the same kind, with
  /// the same value where a record has none.
  func agrees(with path: [FieldStep]) -> Bool {
    guard path.count == self.path.count, let last = path.last,
      path.indices.allSatisfy({ path[$0].name == self.path[$0] }), agreesOutside(path)
    else { return false }
    var kind = last.kind
    if isMultiple {
      if case .optional(let inner) = kind { kind = inner }
      switch kind {
      case .array(let element), .set(let element): kind = element
      default: return false
      }
    }
    guard IndexScalar(kind) == scalar else { return false }
    // Used only where no document lacks the field, it has the same for every default.
    if absent.first == IndexTag.unsettled { return true }
    if !last.isSettled { return false }
    switch last.absent {
    case nil: return absent.count == 1 && absent[0] == IndexTag.missing
    // The most frequent defaults, without encoding them.
    case .null? where !isMultiple: return absent.count == 1 && absent[0] == IndexTag.null
    case .integer(0)? where scalar == .integer && !isMultiple:
      return absent.count == 1 && absent[0] == IndexTag.zero
    default: break
    }
    return IndexDefinition.absent(last, (scalar, isMultiple)) == absent
  }

  /// Whether records that lack an embedded document on the way have the same value for both.
  private func agreesOutside(_ path: [FieldStep]) -> Bool {
    outerAbsent.indices.allSatisfy { place in
      outerAbsent[place].first == IndexTag.unsettled
        || IndexDefinition.absent(outside: path[place], (scalar, isMultiple)) == outerAbsent[place]
    }
  }
}
