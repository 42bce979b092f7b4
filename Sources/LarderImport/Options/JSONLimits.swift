/// How much of anything a JSON file may hold before it is refused.
///
/// Every limit is the largest size that is still accepted. What exceeds one is refused with an
/// ``ImportError`` of kind ``ImportError/Kind/limit(_:)``. Limits below 0 mean 0.
public struct JSONLimits: Equatable, Sendable {
  /// Arrays and objects inside one another; more than 128 means 128.
  ///
  /// A document counts as the first; the array or object around all documents does not count.
  public var depth = 128

  /// Bytes of one string or name in UTF-8, after its escapes are resolved.
  public var stringByteCount = 64 << 20

  /// Members of one object. What an object takes in memory, ``documentByteCount`` bounds before.
  ///
  /// The object around the documents of a keyed file may have any number.
  public var memberCount = 1 << 24

  /// Bytes of one number as written; more than 32,768 means 32,768.
  public var numberByteCount = 1_024

  /// Bytes of one line of an NDJSON file, without its line feed; more than 4 GiB less 64 KiB means
  /// that.
  public var lineByteCount = 64 << 20

  /// Bytes of one document of an array or of a keyed file, from `{` to `}`; more than 4 GiB less
  /// 64 KiB means that.
  ///
  /// It bounds memory. A document is held as a whole, in buffers that double: its text, and 16 bytes
  /// for each value and name. A tree of it takes some four times its text in ordinary documents and
  /// up to thirty in contrived ones (arrays inside arrays).
  public var documentByteCount = 64 << 20

  /// The default limits.
  public init() {}

  /// The same limits, each within what the reader can honour.
  var honoured: JSONLimits {
    // Far above any memory, and far from where adding to a file offset would overflow.
    let most = 1 << 48
    var limits = self
    limits.depth = min(max(depth, 0), 128)
    limits.stringByteCount = min(max(stringByteCount, 0), Self.mostByteCount)
    limits.memberCount = min(max(memberCount, 0), most)
    limits.numberByteCount = min(max(numberByteCount, 0), 32_768)
    limits.lineByteCount = min(max(lineByteCount, 0), Self.mostByteCount)
    limits.documentByteCount = min(max(documentByteCount, 0), Self.mostByteCount)
    return limits
  }

  /// What the places on a tape, of 32 bits, can tell apart.
  static let mostByteCount = 1 << 32 - 1 << 16
}
