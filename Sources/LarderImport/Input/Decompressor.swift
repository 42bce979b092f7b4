internal import Synchronization

/// What gives the text of a compressed source, piece by piece.
///
/// This module has none: they stand in a module of their own, so that whoever links this one needs no
/// library for them.
package protocol Decompressor: AnyObject, Sendable {
  /// Whether a file is compressed so that begins with these bytes, of which there are four at most.
  static func recognizes(_ head: [UInt8]) -> Bool

  /// Begins at the beginning of `source`.
  ///
  /// - Parameter mostByteCount: How many bytes of memory what the file asks for may take, where that is
  ///   more than what the format takes anyway.
  init(_ source: consuming ByteSource, mostByteCount: Int)

  /// Reads text into `room`, and says how many bytes came; 0 at the end.
  ///
  /// - Throws: ``ImportError`` of kind ``ImportError/Kind/compression(offset:)`` for a file that is cut off
  ///   or damaged, or as its source does.
  func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int
}

/// How many bytes of a file have been read, for whoever shows progress.
final class ReadMeter: Sendable {
  private let byteCount = Atomic(0)

  /// How many, in the latest reading.
  var value: Int { byteCount.load(ordering: .relaxed) }

  func reset() { byteCount.store(0, ordering: .relaxed) }

  func add(_ count: Int) { byteCount.add(count, ordering: .relaxed) }
}

/// The name that a file has without `.gz` or `.zst` at its end, in lower case: what tells a format.
func formatName(of file: String) -> String {
  let name = file.lowercased()
  for ending in [".gz", ".zst"] where name.hasSuffix(ending) {
    return String(name.dropLast(ending.count))
  }
  return name
}
