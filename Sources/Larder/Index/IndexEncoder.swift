#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

/// Writes the entries that one document has in one index.
///
/// Works on the bytes of records, by the names in the catalogue: whoever writes a document keeps
/// all indexes of its collection, whatever its own type knows of them.
struct IndexEncoder {
  let index: CollectionIndex
  private let filter: Evaluation?
  private let isPartial: Bool
  private let tables: [FieldTable]
  /// What most documents are asked, without a look at the definitions.
  private let parts: [Part]
  /// The part that has elements.
  private let multiple: Int?

  private struct Part {
    let slot: Int
    let scalar: IndexScalar
    let isMultiple: Bool
    let isDescending: Bool
    /// Whether it is a field of an embedded document.
    let isInner: Bool
  }

  init(_ index: CollectionIndex, in collection: Collection) {
    self.index = index
    filter = index.filter.map { Evaluation($0, in: collection) }
    isPartial = index.filter != nil
    tables = collection.tables
    parts = index.parts.map { part in
      Part(
        slot: part.slot, scalar: part.definition.scalar, isMultiple: part.definition.isMultiple,
        isDescending: part.definition.isDescending, isInner: part.definition.path.count > 1)
    }
    multiple = index.parts.firstIndex { $0.definition.isMultiple }
  }

  /// Appends an entry for each value that the document in `record` has in the index, and lends
  /// where each stands.
  ///
  /// What cannot be read has an entry that no query looks for, so that a document can always be
  /// written.
  ///
  /// - Parameter limit: How many bytes of the values are kept, in front of their hash: those of an
  ///   entry, or ``noLimit``.
  func encode(
    _ record: borrowing RecordReader, into bytes: inout OrderedBytes,
    limit: Int = CollectionIndex.maximumValueByteCount,
    _ body: (_ values: Range<Int>, _ isCut: Bool, _ equalsNothing: Bool, inout OrderedBytes) ->
      Void
  ) {
    guard !isPartial || holds(record) else { return }
    guard let multiple else {
      let start = bytes.count
      let equalsNothing = encodeParts(record, into: &bytes, limit: limit, element: nil)
      return finish(start, equalsNothing, limit, record, nil, &bytes, body)
    }
    guard var elements = reader(index.parts[multiple], record), !elements.skipNil(),
      let count = try? elements.arrayCount()  // No array: no elements.
    else { return }
    for _ in 0..<count {
      let start = bytes.count
      let element = elements
      guard (try? elements.skip()) != nil else { return }  // Damaged from here on.
      let equalsNothing = encodeParts(record, into: &bytes, limit: limit, element: element)
      finish(start, equalsNothing, limit, record, element, &bytes, body)
    }
  }

  private func finish(
    _ start: Int, _ equalsNothing: Bool, _ limit: Int, _ record: borrowing RecordReader,
    _ element: ValueReader?, _ bytes: inout OrderedBytes,
    _ body: (Range<Int>, Bool, Bool, inout OrderedBytes) -> Void
  ) {
    let isCut = bytes.count - start > limit
    if isCut {
      var whole = OrderedBytes()
      _ = encodeParts(record, into: &whole, limit: Self.noLimit, element: element)
      bytes.cutValues(from: start, hash: IndexEntry.hash(ofWhole: whole.bytes))
    }
    body(start..<bytes.count, isCut, equalsNothing, &bytes)
  }

  /// For values as they are.
  static let noLimit = Int.max - 1

  /// Whether the document belongs into the index.
  private func holds(_ record: borrowing RecordReader) -> Bool {
    guard let filter else { return true }
    // A document whose fields cannot be read has no place in the index: nothing reads it.
    return (try? filter.matches(record)) ?? false
  }

  /// - Returns: Whether one of the values is nil or NaN.
  private func encodeParts(
    _ record: borrowing RecordReader, into bytes: inout OrderedBytes, limit: Int,
    element: ValueReader?
  ) -> Bool {
    var equalsNothing = false
    let entry = bytes.count
    for place in parts.indices {
      let part = parts[place]
      let start = bytes.count
      // What cannot be read is as if it were missing.
      let found = part.isMultiple ? element : (try? record.value(inSlot: part.slot)) ?? nil
      if var reader = found {
        if part.isInner, !part.isMultiple {
          encodeInner(index.parts[place], &reader, into: &bytes, limit: limit)
        } else {
          bytes.put(&reader, as: part.scalar, limit: limit)
        }
      } else if part.isInner {
        index.parts[place].definition.outerAbsent[0].withUnsafeBytes { bytes.append($0) }
      } else {
        index.parts[place].definition.absent.withUnsafeBytes { bytes.append($0) }
      }
      // A definition that an earlier version has renewed may have nothing for a value that is missing.
      if bytes.count == start { bytes.append(IndexTag.unsettled) }
      if IndexTag.equalsNothing(bytes.bytes[start]) {
        equalsNothing = true
        if bytes.bytes[start] == IndexTag.unsettled {
          bytes.truncate(to: entry)
          bytes.append(IndexTag.unsettled)
          return true
        }
      }
      if part.isDescending { bytes.complement(from: start) }
    }
    return equalsNothing
  }

  /// A reader in front of the first value on the way to a part; for a part with elements, in
  /// front of its array.
  private func reader(
    _ part: CollectionIndex.Part, _ record: borrowing RecordReader
  ) -> ValueReader? {
    guard let found = try? record.value(inSlot: part.slot) else { return nil }  // Unreadable.
    guard part.definition.isMultiple, part.definition.path.count > 1 else { return found }
    var reader = found
    for name in part.definition.path.dropFirst() {
      guard let inner = tables.field(name, in: reader) else { return nil }
      reader = inner
    }
    return reader
  }

  private func encodeInner(
    _ part: CollectionIndex.Part, _ reader: inout ValueReader, into bytes: inout OrderedBytes,
    limit: Int
  ) {
    let path = part.definition.path
    for place in path.indices.dropFirst() {
      if reader.nextIsNil, !Self.hasDefaultsBehindNil { return bytes.append(IndexTag.null) }
      guard let inner = tables.field(path[place], in: reader) else {
        let absent =
          place < path.count - 1 ? part.definition.outerAbsent[place] : part.definition.absent
        return absent.withUnsafeBytes { bytes.append($0) }
      }
      reader = inner
    }
    bytes.put(&reader, as: part.definition.scalar, limit: limit)
  }

  private static var hasDefaultsBehindNil: Bool {
    #if LARDER_MUTANTS
      Mutant.defaultBehindNil.isOn
    #else
      false
    #endif
  }

  /// Whether both records have the same bytes wherever the index looks, so that their entries
  /// are equal too.
  func looksTheSame(
    _ old: borrowing RecordReader, _ new: borrowing RecordReader
  ) -> Bool {
    if isPartial { return false }
    for part in parts {
      guard old.hasSameBytes(inSlot: part.slot, as: new) else { return false }
    }
    return true
  }
}
