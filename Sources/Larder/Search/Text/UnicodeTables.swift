#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a tokenizer knows of each Unicode scalar. Made when it is first asked for, in about a millisecond.
final class UnicodeTables: @unchecked Sendable {  // Immutable after init.
  enum Kind: UInt8 {
    case separator
    case letter
    /// Of a script without spaces.
    case paired
    /// Belongs to the letter before.
    case mark
    case ignored
    /// A word of its own.
    case symbol
    /// Ignored between two letters, and a separator elsewhere.
    case middle
  }

  /// Never let go of.
  static let shared = UnicodeTables()

  /// The scalars that stand for a scalar in words.
  typealias Form = UnsafeBufferPointer<UInt32>

  /// What is known of a scalar: the kind in the three lowest bits, the number of its form in the others.
  struct Entry {
    fileprivate let bits: UInt16

    @inline(__always) var kind: Kind {
      Kind(rawValue: UInt8(truncatingIfNeeded: bits & 7)).unsafelyUnwrapped
    }

    @inline(__always) var isItsOwnForm: Bool { bits < 8 }
  }

  /// The entries of all scalars, for as long as there is a program.
  struct Entries {
    /// For each 256 scalars the place of their entries.
    fileprivate let blocks: UnsafePointer<UInt16>
    fileprivate let bits: UnsafePointer<UInt16>

    @inline(__always) subscript(scalar: UInt32) -> Entry {
      Entry(bits: bits[Int(blocks[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)])
    }
  }

  let entries: Entries
  private let formEnds: UnsafePointer<UInt32>
  private let formScalars: UnsafePointer<UInt32>
  private let combiningClasses: [UInt32: UInt8]

  /// - Parameter entry: Of a scalar that is not its own form.
  func form(_ entry: Entry) -> Form {
    let number = Int(entry.bits >> 3)
    let start = Int(formEnds[number - 1])
    return Form(start: formScalars + start, count: Int(formEnds[number]) - start)
  }

  /// By which marks behind one letter are sorted.
  func combiningClass(of scalar: UInt32) -> UInt8 { combiningClasses[scalar] ?? 0 }

  private init() {
    var input = Input()
    var blocks = Blocks()
    var scalar = 0
    for _ in 0..<input.number() {
      let first = scalar + input.number()
      scalar = first + input.number()
      blocks.set(first...scalar, to: UInt16(input.number()))
    }
    var (ends, scalars): ([UInt32], [UInt32]) = ([0], [])
    scalar = 0
    for number in 1...UInt16(input.number()) {
      scalar += input.number()
      for _ in 0..<input.number() { scalars.append(UInt32(input.number())) }
      ends.append(UInt32(scalars.count))
      blocks.add(number << 3, to: scalar)
    }
    var classes: [UInt32: UInt8] = [:]
    scalar = 0
    for _ in 0..<input.number() {
      scalar += input.number()
      classes[UInt32(scalar)] = UInt8(input.number())
    }
    combiningClasses = classes

    entries = Entries(blocks: Self.copy(blocks.places), bits: Self.copy(blocks.entries))
    formEnds = Self.copy(ends)
    formScalars = Self.copy(scalars)
  }

  private static func copy<Element>(_ array: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(1, array.count))
    copy.initialize(from: array, count: array.count)
    return UnsafePointer(copy)
  }

  /// The entries while they are made. Blocks of one kind throughout come first and are shared.
  private struct Blocks {
    private(set) var places = [UInt16](repeating: 0, count: 0x1100)
    private(set) var entries = (0..<kindCount).flatMap { [UInt16](repeating: $0, count: 256) }

    private static let kindCount: UInt16 = 8

    mutating func set(_ scalars: ClosedRange<Int>, to kind: UInt16) {
      for block in scalars.lowerBound >> 8...scalars.upperBound >> 8 {
        let inside = scalars.clamped(to: block << 8...block << 8 | 0xFF)
        if inside.count == 256 {
          places[block] = kind
        } else {
          let start = ownPlace(block) << 8
          for scalar in inside { entries[start | scalar & 0xFF] = kind }
        }
      }
    }

    mutating func add(_ bits: UInt16, to scalar: Int) {
      entries[ownPlace(scalar >> 8) << 8 | scalar & 0xFF] |= bits
    }

    private mutating func ownPlace(_ block: Int) -> Int {
      let kind = places[block]
      if kind < Self.kindCount {
        places[block] = UInt16(entries.count >> 8)
        entries.append(contentsOf: repeatElement(kind, count: 256))
      }
      return Int(places[block])
    }
  }

  private struct Input {
    private let bytes: [UInt8]
    private var at = 0

    init() {
      let text = UnicodeData.text.withUTF8Buffer { Data($0) }
      guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
        preconditionFailure("UnicodeData is not in base 64")
      }
      bytes = [UInt8](data)
    }

    mutating func number() -> Int {
      var (number, shift) = (0, 0)
      while true {
        let byte = bytes[at]
        at += 1
        number |= Int(byte & 0x7F) << shift
        if byte < 0x80 { return number }
        shift += 7
      }
    }
  }
}
