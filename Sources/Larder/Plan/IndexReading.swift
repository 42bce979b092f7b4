internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Answers that are read from an index, with a look at single documents only. Where the values of an
// entry are cut, or cannot be read, there is no answer: the records themselves are asked then.

extension Planner {
  /// An index whose entries are just the documents that match, and in which a field comes first
  /// behind the parts that have one value each.
  func access(
    grouping operand: Operand, _ transaction: borrowing LentTransaction
  ) throws -> IndexAccess? {
    guard case .field(let path) = operand else { return nil }
    return try settlingAccess(transaction) { access in
      let parts = access.index.definition.parts
      return access.ranges.count == 1 && access.fixedPartCount < parts.count
        && !parts[access.fixedPartCount].isMultiple
        && parts[access.fixedPartCount].agrees(with: path)
    }
  }
}

extension CollectionIndex {
  /// Goes to the first entry of a range, or to the last; false where there is none behind its
  /// beginning. Whether the entry lies in the range is for the caller to see.
  func seek(firstOf range: KeyRange, isReversed: Bool, _ cursor: inout Cursor) throws -> Bool {
    guard isReversed else {
      return try range.lower.withUnsafeBytes { try seek(atOrAfter: $0, &cursor) }
    }
    guard let upper = range.upper else { return try cursor.last() }
    return try upper.withUnsafeBytes { try seek(before: $0, &cursor) }
  }
}

extension CollectionIndex {
  /// Goes along the entries in a range until `body` says false, which is lent keys and values as they
  /// lie there and checks them. The neighbours of the range are checked here: what damage has made
  /// sort out of the range is one of them.
  ///
  /// - Returns: Whether it came to the end.
  /// - Throws: ``StoreError/damagedIndex(collection:index:reason:)``; whatever `body` throws.
  @inline(__always) @discardableResult
  func forEachEntry(
    in range: KeyRange, _ cursor: inout Cursor,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try range.lower.withUnsafeBytes { lower in
      guard try cursor.seek(atOrAfter: lower) else {
        // Whatever damage has made sort in front of the range is the last one.
        if !lower.isEmpty, try cursor.last() { try checkInFront(cursor.key, cursor.value, lower) }
        return true
      }
      if Bytes.compare(cursor.key, lower) < 0 { throw disorder }
      func onward(before end: UnsafeRawBufferPointer?) throws -> Bool {
        try cursor.forEachOnward(before: end) { key, value, isBehind in
          if isBehind {
            _ = try checkedValueByteCount(ofEntry: key, value)
          } else {
            try checkInFront(key, value, lower)
          }
        } _: { key, value in
          try body(key, value)
        }
      }
      guard let upper = range.upper else { return try onward(before: nil) }
      return try upper.withUnsafeBytes { try onward(before: $0) }
    }
  }

  private func checkInFront(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ lower: UnsafeRawBufferPointer
  ) throws(StoreError) {
    _ = try checkedValueByteCount(ofEntry: key, value)
    if Bytes.compare(key, lower) >= 0 { throw disorder }
  }
}

extension KeyRange {
  /// Whether a key lies in the range, for one that the way along it has come to.
  func holds(_ key: UnsafeRawBufferPointer, isReversed: Bool) -> Bool {
    isReversed ? lower.withUnsafeBytes { Bytes.compare(key, $0) >= 0 } : isBefore(end: key)
  }
}

extension CollectionIndex {
  /// How many bytes the first parts of an entry take; nil for an entry that is damaged.
  func byteCount(of partCount: Int, _ key: UnsafeRawBufferPointer) -> Int? {
    var count = 0
    for part in parts.prefix(partCount) {
      guard count < key.count,
        let more = OrderedBytes.count(
          of: UnsafeRawBufferPointer(rebasing: key[count...]), mask: part.definition.mask)
      else { return nil }
      count += more
    }
    return count < key.count ? count : nil
  }
}

extension IndexScalar {
  /// A comparison that holds for every value but nil, NaN, and one at the far end; nil for kinds
  /// that an index has no single range of.
  func bound(isLargest: Bool) -> Comparison? {
    switch self {
    case .integer: .greaterOrEqual(.integer(.min))
    case .string: .greaterOrEqual(.string(""))
    case .uuid: .greaterOrEqual(.uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))))
    case .double, .float: .greaterOrEqual(.double(-.infinity))
    // With `>=` it would hold for NaN.
    case .date:
      isLargest
        ? .greater(.date(Date(timeIntervalSinceReferenceDate: -.infinity)))
        : .less(.date(Date(timeIntervalSinceReferenceDate: .infinity)))
    case .decimal, .bool, .url, .data: nil
    }
  }
}

extension LentTransaction {
  /// Whether an index can tell where each document stands. It cannot where a document lacks a field whose
  /// default each process has another one of: such a document stands first in the index, with no value.
  ///
  /// - Throws: ``StoreError/damagedIndex(collection:index:reason:)``; LMDB's errors.
  @inline(__always)
  borrowing func knowsAllDocuments(_ index: CollectionIndex) throws -> Bool {
    try !index.hasUnsettledDefaults || !hasDocumentsApart(index)
  }

  @inline(never)
  private borrowing func hasDocumentsApart(_ index: CollectionIndex) throws -> Bool {
    guard index.isComplete else { return false }
    var entries = try cursor(in: index.database)
    guard try entries.first() else { return false }
    try index.check(entries)
    return entries.key.first == IndexTag.unsettled
  }
}
