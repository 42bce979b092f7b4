import Larder

/// What the history campaign reads and writes: a number that no other write has.
@Document
struct HistoryCell: Equatable {
  var id: Int
  var nonce: Int
  /// The nonce again, in other bits, behind enough bytes to notice half a document.
  var filling: String
  var echo: Int

  static let count = 512
}

extension HistoryCell {
  init(id: Int, nonce: Int) {
    self.init(
      id: id, nonce: nonce, filling: String(repeating: "x", count: nonce & 0x3F),
      echo: nonce.byteSwapped ^ id)
  }

  var isWhole: Bool { self == HistoryCell(id: id, nonce: nonce) }
}
