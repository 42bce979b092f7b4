import Foundation
import LarderTestKit

/// A place for bytes whose end is the end of the memory that may be read: one byte further
/// lies a page without any access, so that reading it ends the test run.
final class GuardedBytes {
  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  private let page = Int(sysconf(Int32(_SC_PAGESIZE)))

  init(pages: Int = 64) {
    capacity = pages * page
    guard
      let base = mmap(
        nil, capacity + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      base != MAP_FAILED, mprotect(base + capacity, page, PROT_NONE) == 0
    else { fatalError("no guarded memory: errno \(errno)") }
    self.base = base
  }

  deinit { munmap(base, capacity + page) }

  /// Copies the bytes there; they stay until the next ones.
  func place(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    precondition(bytes.count <= capacity, "more bytes than the guarded memory takes")
    let start = base + (capacity - bytes.count)
    bytes.withUnsafeBytes { bytes in
      if let source = bytes.baseAddress { start.copyMemory(from: source, byteCount: bytes.count) }
    }
    return UnsafeRawBufferPointer(start: start, count: bytes.count)
  }
}

extension RandomSource {
  /// Bytes that something went wrong with, once to four times; now and then nothing did.
  mutating func mutated(_ bytes: [UInt8], others: [[UInt8]]) -> [UInt8] {
    var bytes = bytes
    let tags: [UInt8] = [
      0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC4, 0xC6, 0xC7, 0xC9, 0xCB,
      0xCF, 0xD3, 0xD4, 0xD8, 0xD9, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF, 0xE0, 0xFF, 0x01, 0x02, 0x04,
      0x05, 0x06, 0x07,
    ]
    for _ in 0..<int(1..<5) {
      guard !bytes.isEmpty else { return bytes }
      // Headers are small, and most of what can go wrong is in them.
      let place = once(in: 3) ? int(0..<min(bytes.count, 40)) : int(0..<bytes.count)
      switch int(0..<12) {
      case 0, 1: bytes[place] ^= 1 << UInt8(int(0..<8))
      case 2, 3: bytes[place] = UInt8(truncatingIfNeeded: next())
      case 4, 5, 6: bytes[place] = tags[int(0..<tags.count)]
      case 7: bytes[place] = bytes[place] &+ (bool() ? 1 : 0xFF)
      case 8: bytes.removeSubrange(place..<min(bytes.count, place + int(1..<9)))
      case 9: bytes.insert(tags[int(0..<tags.count)], at: place)
      case 10: bytes.removeSubrange(place...)
      default:
        let other = others[int(0..<others.count)]
        let from = int(0..<other.count)
        let count = min(int(1..<17), other.count - from, bytes.count - place)
        bytes.replaceSubrange(place..<place + count, with: other[from..<from + count])
      }
    }
    return bytes
  }
}
