import Larder

/// What the writers of the kill campaign save: its nonce says which write it is of.
@Document
struct KillItem: Equatable {
  var id: String
  @Indexed var group: Int
  @Searchable var nonce: String
  @Searchable var padding: String
}

/// Saved with a ``KillItem`` in one transaction, or not at all.
@Document
struct KillTwin: Equatable {
  var id: String
  var nonce: String
}

/// How far a named consumer is, kept in the transaction that acknowledges.
@Document
struct KillAccount: Equatable {
  var id: String
  var start: Int
  var last: Int
  var count: Int
  var digest: Int
  var resets: Int
  /// Items that there are, by the one reset and the changes since.
  var present: Int
}

extension KillItem {
  /// Documents of one writer, in groups of 16.
  static let groupCount = 16
  static let perWriter = groupCount * 16

  init(writer: Int, number: Int, nonce: UInt64) {
    self.init(
      id: Self.id(writer: writer, number: number), group: writer * Self.groupCount + number / 16,
      nonce: Self.text(of: nonce), padding: Self.padding(of: nonce))
  }

  static func id(writer: Int, number: Int) -> String {
    prefix(ofWriter: writer) + String(1000 + number)
  }

  static func prefix(ofWriter writer: Int) -> String { "w\(writer)-" }

  /// The number in an id; nil for one that this campaign does not make.
  static func number(_ id: some StringProtocol) -> Int? {
    guard let dash = id.firstIndex(of: "-"), let number = Int(id[id.index(after: dash)...]),
      (1000..<1000 + perWriter).contains(number)
    else { return nil }
    return number - 1000
  }

  static let mark = "N#"

  static func text(of nonce: UInt64) -> String {
    let digits = String(nonce, radix: 16)
    return mark + String(repeating: "0", count: 16 - digits.count) + digits
  }

  static func nonce(_ text: String) -> UInt64? {
    text.hasPrefix(mark) ? UInt64(text.dropFirst(mark.count), radix: 16) : nil
  }

  /// Mostly short; some longer than fits on a page.
  static func padding(of nonce: UInt64) -> String {
    let length = nonce % 16 == 0 ? 5000 : Int(nonce >> 8 & 0x7F)
    let digits = String(nonce.byteSwapped, radix: 16)
    return String(repeating: digits, count: length / digits.count)
  }

  var isWhole: Bool {
    guard let nonce = Self.nonce(nonce) else { return false }
    return padding == Self.padding(of: nonce)
  }
}
