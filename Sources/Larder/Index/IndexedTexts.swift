/// Reads the words of the fields of an index.
///
/// Used by one thread at a time.
final class IndexedTexts {
  private let parts: [CollectionIndex.Part]
  private let tables: [FieldTable]
  private var words: Words
  /// Whether this process has the tokenizer of the index, without which it must not ask for words.
  let hasTokenizer: Bool

  init(_ index: CollectionIndex, in collection: Collection) {
    let tokenizer = collection.tokenizers[index.definition.tokenizer]
    hasTokenizer = tokenizer != nil
    words = Words(tokenizer ?? .standard)
    parts = index.parts
    tables = collection.tables
  }

  /// Lends each word of a document: the fields in the order of the index, the words of a field in the
  /// order of their positions.
  ///
  /// A field that cannot be read has no words.
  func read(
    _ record: borrowing RecordReader,
    _ body: (_ word: UnsafeRawBufferPointer, _ field: Int, _ position: UInt32) -> Void
  ) {
    for (field, part) in parts.enumerated() {
      var position: UInt32 = 0
      forEachText(of: part, record) { text in
        words.forEach(in: text, from: &position) { word, position in
          body(word, field, position)
        }
      }
    }
  }

  /// Whether a document has a word. Looks no further than to the first one.
  func hasWords(_ record: borrowing RecordReader) -> Bool {
    struct Found: Error {}
    var isFound = false
    for part in parts where !isFound {
      forEachText(of: part, record) { text in
        do {
          if !isFound { try words.forEach(in: text) { _, _, _ in throw Found() } }
        } catch {
          isFound = true
        }
      }
    }
    return isFound
  }

  private func forEachText(
    of part: CollectionIndex.Part, _ record: borrowing RecordReader,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    let definition = part.definition
    let path = definition.path
    guard var reader = (try? record.value(inSlot: part.slot)) ?? nil else {
      let absent = path.count > 1 ? definition.outerAbsent[0] : definition.absent
      return absent.withUnsafeBytes(body)
    }
    for place in path.indices.dropFirst() {
      if reader.nextIsNil { return }
      guard let inner = tables.field(path[place], in: reader) else {
        let absent = place < path.count - 1 ? definition.outerAbsent[place] : definition.absent
        return absent.withUnsafeBytes(body)
      }
      reader = inner
    }
    guard !reader.nextIsNil else { return }
    guard definition.isMultiple else {
      if let text = try? reader.stringBytes() { body(text) }
      return
    }
    guard let count = try? reader.arrayCount() else { return }
    for _ in 0..<count {
      guard let text = try? reader.stringBytes() else { return }
      body(text)
    }
  }

  /// Whether both records have the same bytes wherever the index looks.
  func areTheSame(_ old: borrowing RecordReader, _ new: borrowing RecordReader) -> Bool {
    for part in parts where !old.hasSameBytes(inSlot: part.slot, as: new) { return false }
    return true
  }
}
