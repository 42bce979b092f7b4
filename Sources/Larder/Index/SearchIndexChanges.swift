internal import LarderLMDB

/// The changes of one search index, which follow from those of documents.
///
/// Works on the bytes of records, by the names in the catalogue, as ``IndexChanges`` does for an index
/// of values.
final class SearchIndexChanges {
  let index: CollectionIndex
  private let texts: IndexedTexts
  private let changes: SearchChanges
  /// Whether a document came whose words this process cannot find, so that the index must be emptied.
  private(set) var lacksWords = false

  /// Bytes in memory from which on a step of a build ends.
  private static let stepByteCount = 4 << 20

  init(_ index: CollectionIndex, in collection: Collection) {
    self.index = index
    texts = IndexedTexts(index, in: collection)
    changes = SearchChanges(database: index.database, weights: index.definition.weights ?? [])
  }

  var hasTokenizer: Bool { texts.hasTokenizer }
  var hasChanges: Bool { changes.hasChanges || lacksWords }
  var isFull: Bool { changes.isFull }
  var isLarge: Bool { changes.byteCount > Self.stepByteCount }

  /// Notes a document that the index does not have.
  func insert(_ record: borrowing RecordReader, key: UnsafeRawBufferPointer) {
    put(record, key: key, .absent)
  }

  /// Notes a document that the index may have, in this form or another one.
  func put(_ record: borrowing RecordReader, key: UnsafeRawBufferPointer) {
    put(record, key: key, .unknown)
  }

  /// Notes a document that has another form now. Nothing is written where its texts have not changed.
  func replace(
    _ old: borrowing RecordReader, by new: borrowing RecordReader, key: UnsafeRawBufferPointer
  ) {
    if !texts.areTheSame(old, new) { put(new, key: key, standing(of: old)) }
  }

  func delete(_ old: borrowing RecordReader, key: UnsafeRawBufferPointer) {
    changes.delete(key, standing(of: old))
  }

  /// Notes that a document is gone which cannot be read.
  func delete(key: UnsafeRawBufferPointer) { changes.delete(key, .unknown) }

  /// Whether the index has to have this version: a complete one has every document with a word.
  private func standing(of old: borrowing RecordReader) -> SearchChanges.Standing {
    index.isComplete && texts.hasTokenizer && texts.hasWords(old) ? .indexed : .unknown
  }

  private func put(
    _ record: borrowing RecordReader, key: UnsafeRawBufferPointer,
    _ standing: SearchChanges.Standing
  ) {
    guard texts.hasTokenizer else { return lacksWords = true }
    changes.put(key, standing) { batch in
      texts.read(record) { word, field, position in
        batch.add(word, field: field, position: position)
      }
    }
  }

  /// Writes what was collected.
  ///
  /// - Parameter isBuilding: Whether more follows before anybody searches.
  /// - Returns: Whether segments wait for being merged.
  /// - Throws: ``SearchDamage``, behind which the index must be emptied and built anew; LMDB's errors.
  func write(to transaction: inout WriteTransaction, isBuilding: Bool = false) throws -> Bool {
    try changes.write(to: &transaction, isBuilding: isBuilding)
  }
}
