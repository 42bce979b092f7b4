internal import LarderLMDB

/// Holds a search index against the documents.
///
/// Documents lie in the order of their keys, postings in that of the words. So both are summed up, by
/// hashes of a document, a word and its places, whose order does not matter; the sums must be equal. Reads
/// every document and every posting once. In a process without the tokenizer of the index only its own records are
/// read.
final class SearchCheck {
  let index: CollectionIndex
  private let texts: IndexedTexts
  private var batch: SearchBatch
  private var documents = Sum()

  private struct Sum: Equatable {
    var documentCount = 0
    var length: UInt64 = 0
    var postings: UInt64 = 0

    mutating func add(
      _ word: UnsafeRawBufferPointer, frequency: UInt32, positions: UnsafeRawBufferPointer,
      of document: UInt64
    ) {
      let seed = Checksum.hash(word, seed: document ^ UInt64(frequency))
      postings &+= Checksum.hash(positions, seed: seed)
    }

    mutating func add(contentsOf other: Sum) {
      documentCount += other.documentCount
      length += other.length
      postings &+= other.postings
    }
  }

  init(_ index: CollectionIndex, in collection: Collection) {
    self.index = index
    texts = IndexedTexts(index, in: collection)
    batch = SearchBatch(weights: index.definition.weights ?? [])
  }

  /// Takes a document into the sum.
  func add(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ binding: CollectionBinding
  ) throws {
    guard texts.hasTokenizer else { return }
    let verified = try binding.collection.verified(record, key: key)
    let reader = try RecordReader(verified, binding: binding, schema: binding.anonymous, depth: 1)
    texts.read(reader) { word, field, position in
      batch.add(word, field: field, position: position)
    }
    if batch.documentIsEmpty { return }
    batch.endDocument(key: key)
    defer { batch.removeAll() }
    documents.documentCount += 1
    documents.length += UInt64(batch.documents[0].length)
    let document = Checksum.hash(key, seed: 0)
    for posting in batch.postings(of: 0) {
      batch.positions(of: posting).withUnsafeBytes {
        documents.add(
          batch.term(posting.word), frequency: posting.frequency, positions: $0, of: document)
      }
    }
  }

  /// Adds the documents of another.
  func add(contentsOf other: SearchCheck) { documents.add(contentsOf: other.documents) }

  /// How the index differs from the documents; nil where it has just their words.
  func difference(_ transaction: borrowing ReadTransaction) -> String? {
    do {
      let found = try sum(transaction)
      if found == documents || !texts.hasTokenizer { return nil }
      if found.documentCount != documents.documentCount {
        return "it has \(found.documentCount) documents with words, and its collection has "
          + "\(documents.documentCount)"
      }
      return "its words are not those of its documents"
    } catch {
      return "\(error)"
    }
  }

  private func sum(_ transaction: borrowing ReadTransaction) throws -> Sum {
    let database = index.database
    let weights = index.definition.weights ?? []
    let reading = try SearchReading(database, weights: weights, transaction)
    let keys = try reading.keys(transaction)
    var sum = Sum()
    sum.documentCount = reading.header.documentCount
    sum.length = reading.header.totalLength
    guard keys.count == sum.documentCount,
      keys.values.reduce(0, { $0 + UInt64($1.length) }) == sum.length
    else { throw SearchDamage("its documents are not those that it has counted") }
    try reading.forEachPosting(transaction) { id, word, frequency, positions in
      guard let document = keys[id] else { return }
      sum.add(word, frequency: frequency, positions: positions, of: document.hash)
    }
    return sum
  }
}
