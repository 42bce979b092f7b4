internal import LarderLMDB

/// A change of one document that no segment has yet.
///
/// ```
/// pending = id + 1 that it takes the place of, or 0, id + 1 of its own, or 0, length, [word],
///           checksum
/// word    = bytes, these, frequency, bytes of the positions, these
/// ```
/// There is one for each key at most: a change that comes before the first has become part of a
/// segment takes its place.
struct PendingSearch {
  let removedID: UInt32?
  let id: UInt32?
  let length: UInt32
  private let words: UnsafeRawBufferPointer

  /// - Throws: ``SearchDamage``.
  init(_ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws(SearchDamage) {
    var reader = VarintReader(try SearchLayout.opened(value, key: key))
    let (removed, own) = (try reader.number(), try reader.number())
    removedID = removed == 0 ? nil : removed - 1
    id = own == 0 ? nil : own - 1
    length = try reader.number()
    words = try reader.bytes(reader.left)
  }

  /// Lends each word, how often it is there, by weight, and where.
  func forEachWord(
    _ body: (UnsafeRawBufferPointer, UInt32, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var reader = VarintReader(words)
    while !reader.isAtEnd {
      let term = try reader.bytes(try reader.count())
      let frequency = try reader.number()
      try body(term, frequency, try reader.bytes(try reader.count()))
    }
  }

  /// - Parameters:
  ///   - document: Its place in the batch, and its id; nil where the document is gone.
  static func encoded(
    removing removedID: UInt32?, _ document: (place: Int, id: UInt32)?, in batch: SearchBatch,
    key: [UInt8]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: removedID.map { UInt64($0) + 1 } ?? 0)
    if let document {
      bytes.append(varint: UInt64(document.id) + 1)
      bytes.append(varint: batch.documents[document.place].length)
      for posting in batch.postings(of: document.place) {
        let term = batch.term(posting.word)
        let positions = batch.positions(of: posting)
        bytes.append(varint: term.count)
        bytes.append(contentsOf: term)
        bytes.append(varint: posting.frequency)
        bytes.append(varint: positions.count)
        bytes.append(contentsOf: positions)
      }
    } else {
      bytes += [0, 0]
    }
    SearchLayout.seal(&bytes, key: key)
    return bytes
  }
}
