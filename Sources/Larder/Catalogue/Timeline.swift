#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import LarderLMDB

/// Which course of events the numbers of changes belong to.
///
/// A restored store goes back to an earlier number and gives those behind it a second time, and so may
/// one that was not durable when the power went. A timeline tells the two apart: tokens and consumers
/// keep it with their number, and a place in another timeline is no place in this one.
///
/// ```
/// timeline = id  boot  checksum                                     16, 8, 8, little-endian
/// ```
/// It has a record of its own, as only few reads need it, and all of them read the state record.
struct Timeline: Equatable, Sendable {
  let id: UUID
  /// The start of the system since which commits were made that a loss of power may undo; zero where
  /// there were none. After another start, numbers that were given already may be given again.
  var unflushedBoot: UInt64

  private static let byteCount = 32

  init(unflushedBoot: UInt64 = 0) {
    id = UUID.random()
    self.unflushedBoot = unflushedBoot
  }

  /// Nil for bytes that are no timeline: then no token and no consumer has a place in it.
  init?(_ bytes: UnsafeRawBufferPointer) {
    func number(_ place: Int) -> UInt64 {
      UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    guard bytes.count == Self.byteCount,
      number(24) == Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<24]), seed: 0)
    else { return nil }
    id = UUID(uuid: bytes.loadUnaligned(fromByteOffset: 0, as: uuid_t.self))
    unflushedBoot = number(16)
  }

  func encoded() -> [UInt8] {
    var bytes = withUnsafeBytes(of: id.uuid) { [UInt8]($0) }
    withUnsafeBytes(of: unflushedBoot.littleEndian) { bytes.append(contentsOf: $0) }
    let hash = bytes.withUnsafeBytes { Checksum.hash($0, seed: 0) }
    withUnsafeBytes(of: hash.littleEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// What it must become before a change is written; nil where it may stay.
  ///
  /// - Parameters:
  ///   - boot: Which start of the system this is.
  ///   - isDurable: Whether a commit that returned survives a loss of power.
  static func renewed(_ found: Timeline?, boot: UInt64, isDurable: Bool) -> Timeline? {
    let mark = isDurable ? 0 : boot
    guard let found else { return Timeline(unflushedBoot: mark) }
    if found.unflushedBoot != 0, found.unflushedBoot != boot {
      return Timeline(unflushedBoot: mark)
    }
    guard !isDurable, found.unflushedBoot == 0 else { return nil }
    var marked = found
    marked.unflushedBoot = boot
    return marked
  }
}

extension Transaction where Self: ~Copyable {
  /// The timeline of this snapshot; nil where it is missing or damaged.
  borrowing func timeline() throws -> Timeline? {
    try Layout.withTimelineKey { key in
      try withValue(for: key, in: .main) { Timeline($0) } ?? nil
    }
  }
}

extension WriteTransaction {
  mutating func put(_ timeline: Timeline) throws {
    try timeline.encoded().withUnsafeBytes { bytes in
      try Layout.withTimelineKey { key in try put(bytes, for: key, in: .main) }
    }
  }
}

extension Layout {
  static let timelineName = "larder.timeline"

  fileprivate static func withTimelineKey<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    var name = timelineName
    return try name.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
  }
}
