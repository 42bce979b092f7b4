#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a tokenizer knows of each Unicode scalar. Takes about 150 KB, and a millisecond or two when it is
/// first asked for.
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
    var all = [UInt16](repeating: 0, count: 0x110000)
    var scalar = 0
    for _ in 0..<input.number() {
      let first = scalar + input.number()
      scalar = first + input.number()
      let kind = UInt16(input.number())
      for each in first...scalar { all[each] = kind }
    }
    var numbers: [[UInt32]: UInt16] = [[]: 0]
    var (ends, scalars): ([UInt32], [UInt32]) = ([0], [])
    scalar = 0
    for _ in 0..<input.number() {
      scalar += input.number()
      let form = (0..<input.number()).map { _ in UInt32(input.number()) }
      let number = numbers[form] ?? UInt16(ends.count)
      if numbers.updateValue(number, forKey: form) == nil {
        scalars += form
        ends.append(UInt32(scalars.count))
      }
      all[scalar] |= number << 3
    }
    var classes: [UInt32: UInt8] = [:]
    scalar = 0
    for _ in 0..<input.number() {
      scalar += input.number()
      classes[UInt32(scalar)] = UInt8(input.number())
    }
    combiningClasses = classes

    var places: [ArraySlice<UInt16>: UInt16] = [:]
    var (index, packed): ([UInt16], [UInt16]) = ([], [])
    for start in stride(from: 0, to: all.count, by: 256) {
      let block = all[start..<start + 256]
      let place = places[block] ?? UInt16(packed.count >> 8)
      if places.updateValue(place, forKey: block) == nil { packed += block }
      index.append(place)
    }
    entries = Entries(blocks: Self.copy(index), bits: Self.copy(packed))
    formEnds = Self.copy(ends)
    formScalars = Self.copy(scalars)
  }

  private static func copy<Element>(_ array: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(1, array.count))
    copy.initialize(from: array, count: array.count)
    return UnsafePointer(copy)
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
