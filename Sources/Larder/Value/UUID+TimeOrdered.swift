internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UUID {
  /// A new key that comes after every one that this process made before: a UUID of version 7
  /// (RFC 9562), which begins with the time in milliseconds.
  ///
  /// Keys that grow with time make smaller and faster stores than random ones. Keys of several
  /// processes or devices are ordered as their clocks are. A key says when it was made.
  public static func timeOrdered() -> UUID {
    keys.withLock { keys in
      let milliseconds = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
      return keys.next(
        milliseconds: milliseconds, start: .random(in: 0...0x7FF),
        random: .random(in: .min ... .max))
    }
  }

  private static let keys = Locked(TimeOrderedKeys())

  /// A random one (version 4). On Linux `UUID()` reads a file, and is the same each time while the process
  /// has no descriptor left for that.
  package static func random() -> UUID {
    var random = SystemRandomNumberGenerator()
    let (high, low) = (random.next(), random.next())
    let version = high & ~0xF000 | 0x4000
    let variant = low & ~(0b11 << 62) | 0b10 << 62
    return withUnsafeBytes(of: (version.bigEndian, variant.bigEndian)) {
      UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
    }
  }
}

/// Makes keys that grow, whatever the clock does.
///
/// The 12 bits behind the time count within one millisecond, from a random start in the lower
/// half of their range. When they run out, or the clock goes back, the time in the key runs
/// ahead of the clock (RFC 9562, 6.2, method 1).
struct TimeOrderedKeys {
  private var milliseconds: UInt64 = 0
  private var counter: UInt16 = 0

  /// - Parameter start: What a new millisecond counts from.
  mutating func next(milliseconds now: UInt64, start: UInt16, random: UInt64) -> UUID {
    if now > milliseconds {
      milliseconds = now
      counter = start
    } else if counter < 0xFFF {
      counter += 1
    } else {
      milliseconds += 1
      counter = 0
    }
    return Self.key(milliseconds: milliseconds, counter: counter, random: random)
  }

  /// 48 bits of time, the version, 12 bits of counter, the variant, 62 bits of chance.
  static func key(milliseconds: UInt64, counter: UInt16, random: UInt64) -> UUID {
    let high = milliseconds << 16 | 0x7000 | UInt64(counter & 0xFFF)
    let low = 1 << 63 | random & (1 << 62 - 1)
    return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
      UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
    }
  }
}
