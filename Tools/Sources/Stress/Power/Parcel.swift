import Larder

/// A document whose content follows from a random number, which no other has: what was never
/// written cannot look as if it had been.
@Document
struct Parcel: Identifiable, Equatable, Sendable {
  /// Begins with the number of the writer that alone touches it.
  var id: String
  @Indexed var shelf: Int
  var nonce: Int
  @Searchable var text: String

  init(id: String, shelf: Int, nonce: Int, textByteCount: Int) {
    self.id = id
    self.shelf = shelf
    self.nonce = nonce
    text = Self.text(nonce, textByteCount)
  }

  static let shelves = 0..<5

  /// What a search finds it by, and it alone; nil where its text is too short for that.
  var word: String? {
    let word = String(nonce, radix: 36)
    return text.utf8.count > word.utf8.count ? word : nil
  }

  private static func text(_ nonce: Int, _ byteCount: Int) -> String {
    let word = String(nonce, radix: 36) + " "
    let count = byteCount / word.utf8.count + 1
    return String(String(repeating: word, count: count).utf8.prefix(byteCount))
      ?? ""  // It is ASCII.
  }
}

/// What a writer did last, in the same transaction as the parcels that it changed.
@Document
struct Receipt: Identifiable, Equatable, Sendable {
  /// The writer's number.
  var id: Int
  var nonce: Int
}
