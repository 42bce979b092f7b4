/// The first 16 bytes of a place, as numbers that compare as they do; zeros where it is shorter.
///
/// Of two places whose prefixes differ the one with the smaller prefix comes first. Where they do not
/// differ, only the places themselves can say.
struct PlacePrefix: Comparable {
  private let first: UInt64
  private let second: UInt64

  init(_ place: [UInt8]) {
    (first, second) = place.withUnsafeBytes { bytes in
      if bytes.count >= 16 {
        return (
          UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      }
      var words: (UInt64, UInt64) = (0, 0)
      withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
      return (UInt64(bigEndian: words.0), UInt64(bigEndian: words.1))
    }
  }

  @inline(__always)
  static func < (left: PlacePrefix, right: PlacePrefix) -> Bool {
    left.first < right.first || left.first == right.first && left.second < right.second
  }
}
