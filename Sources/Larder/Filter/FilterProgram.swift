#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A filter as a flat list of tests with jumps between them, run on the bytes of a record.
///
/// Each step looks at one field; where its bytes are of the expected kind nothing is decoded,
/// copied or counted. Whatever is out of the ordinary (a number of another width, text that is
/// not ASCII, a value that is computed) is left to ``Evaluation``, test by test.
final class FilterProgram: @unchecked Sendable {  // Immutable after init.
  private let steps: UnsafeMutableBufferPointer<Step>
  private let texts: UnsafeMutableBufferPointer<UInt8>

  /// Where a step goes on: another step, or the end.
  static let matches: Int32 = -1
  static let fails: Int32 = -2

  struct Step {
    var test: Test
    var slot: Int32
    var ifTrue: Int32
    var ifFalse: Int32
    /// What holds for a record without the field, and for one in which it is nil.
    var ifAbsent: Answer
    var ifNil: Answer
    /// The number that is compared with.
    var number: UInt64 = 0
    /// The texts that are compared with: each its length, 4 bytes, and its UTF-8.
    var textStart: Int32 = 0
    var textCount: Int32 = 0
  }

  enum Answer: UInt8 { case no, yes, ask }

  /// The comparisons that bytes can answer.
  enum Test: UInt8 {
    case ask
    case isNil
    case boolEqual
    case integerEqual, integerLess, integerAtMost, integerMore, integerAtLeast
    case doubleEqual, doubleLess, doubleAtMost, doubleMore, doubleAtLeast
    case dateEqual, dateLess, dateAtMost, dateMore, dateAtLeast
    case textEqual, textLess, textAtMost, textMore, textAtLeast, textPrefix, textSuffix
    case hasText
  }

  /// - Parameter table: The fields of the documents.
  init(_ filter: FilterNode, in table: FieldTable) {
    var builder = Builder(table: table)
    let start = builder.add(filter, ifTrue: Self.matches, ifFalse: Self.fails)
    // Written back to front, so that every step knows where it goes on.
    let last = Int32(builder.steps.count) - 1
    func place(_ target: Int32) -> Int32 { target < 0 ? target : last - target }
    var steps = builder.steps
    for index in steps.indices {
      steps[index].ifTrue = place(steps[index].ifTrue)
      steps[index].ifFalse = place(steps[index].ifFalse)
    }
    steps.reverse()
    self.start = place(start)
    self.steps = .allocate(capacity: max(1, steps.count))
    _ = self.steps.initialize(from: steps)
    texts = .allocate(capacity: max(1, builder.texts.count))
    _ = texts.initialize(from: builder.texts)
    tests = builder.tests.reversed()
  }

  /// The tests of the steps, for those that have to ask.
  let tests: [FilterNode]
  private let start: Int32

  deinit {
    steps.deallocate()
    texts.deallocate()
  }

  /// A sieve that lets through what matches; nil where the first test is not one for it.
  func sieve(tableCount: Int) -> RecordSieve? {
    guard start >= 0 else { return nil }
    let step = steps[Int(start)]
    return step.ifFalse == Self.fails ? RecordSieve(step, tableCount: tableCount) : nil
  }

  /// Whether the document in `record` matches.
  ///
  /// - Parameter ask: Answers the test of a step whole.
  /// - Throws: ``RecordError`` when a field cannot be read.
  @inline(__always)
  func matches(
    _ record: borrowing RecordReader,
    _ ask: (Int, borrowing RecordReader) throws(RecordError) -> Bool
  ) throws(RecordError) -> Bool {
    var next = start
    while next >= 0 {
      let step = steps.baseAddress.unsafelyUnwrapped + Int(next)
      var answer = Answer.ask
      if step.pointee.test != .ask {
        if var reader = try record.value(inSlot: Int(step.pointee.slot)) {
          answer = answered(step, &reader)
        } else {
          answer = step.pointee.ifAbsent
        }
      }
      let holds =
        switch answer {
        case .yes: true
        case .no: false
        case .ask: try ask(Int(next), record)
        }
      next = holds ? step.pointee.ifTrue : step.pointee.ifFalse
    }
    return next == Self.matches
  }
}

// MARK: Running

extension FilterProgram {
  /// The same for the bytes of a record, without a reader. Asks where anything is out of the
  /// ordinary, the record itself too.
  // Not inlined, nor what it calls for most tests: a scan that has all of it in one function keeps
  // its variables on the stack, and takes twice the instructions.
  @inline(never)
  func quickAnswer(_ bytes: UnsafeRawBufferPointer, _ binding: CollectionBinding) -> Answer {
    guard let record = bytes.baseAddress, bytes.count >= 8 else { return .ask }
    // The marker, and the version with numbers of one byte, or of two: records up to 64 KB.
    let head = UInt16(littleEndian: record.loadUnaligned(as: UInt16.self))
    let isWide = head == Self.wideHead
    guard isWide || head == Self.narrowHead else { return .ask }
    let table: Int
    let slotCount: Int
    let byteCount: Int
    let numbers: UnsafeRawPointer
    if isWide {
      table = Self.wideNumber(record + 2)
      slotCount = Self.wideNumber(record + 4)
      byteCount = Self.wideNumber(record + 6)
      numbers = record + 8
    } else {
      table = Int(record.load(fromByteOffset: 2, as: UInt8.self))
      slotCount = Int(record.load(fromByteOffset: 3, as: UInt8.self))
      byteCount = Int(record.load(fromByteOffset: 4, as: UInt8.self))
      numbers = record + 5
    }
    let values = numbers + slotCount &<< (isWide ? 1 : 0)
    let end = record + byteCount
    guard table < binding.root.tableCount, byteCount <= bytes.count, values <= end else {
      return .ask
    }
    var next = start
    while next >= 0 {
      let step = steps.baseAddress.unsafelyUnwrapped + Int(next)
      let slot = Int(step.pointee.slot)
      var offset = 0
      if slot >= 0, slot < slotCount {
        offset =
          isWide
          ? Self.wideNumber(numbers + 2 &* slot)
          : Int(numbers.load(fromByteOffset: slot, as: UInt8.self))
      }
      var answer = step.pointee.ifAbsent
      if offset > 0 {
        let at = values + (offset &- 1)
        guard at < end else { return .ask }
        answer = quickAnswer(step, at, end, binding)
      }
      switch answer {
      case .yes: next = step.pointee.ifTrue
      case .no: next = step.pointee.ifFalse
      case .ask: return .ask
      }
    }
    return Answer(next == Self.matches)
  }

  /// One comparison of doubles, which most fields with many values are.
  @inline(__always)
  private func quickAnswer(
    _ step: UnsafePointer<Step>, _ at: UnsafeRawPointer, _ end: UnsafeRawPointer,
    _ binding: CollectionBinding
  ) -> Answer {
    guard at.load(as: UInt8.self) == 0xCB, end - at >= 9 else {
      return answered(step, at, end, binding)
    }
    let value = Double(
      bitPattern: UInt64(bigEndian: at.loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
    let other = Double(bitPattern: step.pointee.number)
    switch step.pointee.test {
    case .doubleEqual: return Answer(value == other)
    case .doubleLess: return Answer(value < other)
    case .doubleAtMost: return Answer(value <= other)
    case .doubleMore: return Answer(value > other)
    case .doubleAtLeast: return Answer(value >= other)
    default: return answered(step, at, end, binding)
    }
  }

  @inline(never)
  private func answered(
    _ step: UnsafePointer<Step>, _ at: UnsafeRawPointer, _ end: UnsafeRawPointer,
    _ binding: CollectionBinding
  ) -> Answer {
    if step.pointee.test == .ask { return .ask }
    var reader = ValueReader(at, end, binding: binding, depth: 1)
    return answered(step, &reader)
  }

  static var narrowHead: UInt16 {
    UInt16(RecordFormat.version) << 8 | UInt16(RecordFormat.marker)
  }

  static var wideHead: UInt16 { narrowHead | 1 << 8 }

  @inline(__always)
  static func wideNumber(_ at: UnsafeRawPointer) -> Int {
    Int(UInt16(littleEndian: at.loadUnaligned(as: UInt16.self)))
  }
}

extension FilterProgram {
  @inline(__always)
  private func answered(_ step: UnsafePointer<Step>, _ reader: inout ValueReader) -> Answer {
    if _slowPath(reader.at >= reader.end) { return .ask }
    let tag = reader.at.load(as: UInt8.self)
    if tag == 0xC0 { return step.pointee.ifNil }
    switch step.pointee.test {
    case .ask: return .ask
    case .isNil: return .no
    case .boolEqual:
      guard tag == 0xC2 || tag == 0xC3 else { return .ask }
      return Answer((tag == 0xC3) == (step.pointee.number != 0))
    case .integerEqual, .integerLess, .integerAtMost, .integerMore, .integerAtLeast:
      guard let value = reader.plainInteger(tag) else { return .ask }
      let other = Int64(bitPattern: step.pointee.number)
      switch step.pointee.test {
      case .integerEqual: return Answer(value == other)
      case .integerLess: return Answer(value < other)
      case .integerAtMost: return Answer(value <= other)
      case .integerMore: return Answer(value > other)
      default: return Answer(value >= other)
      }
    case .doubleEqual, .doubleLess, .doubleAtMost, .doubleMore, .doubleAtLeast:
      guard tag == 0xCB, reader.left >= 9 else { return .ask }
      return compared(step, reader.double(at: 1))
    case .dateEqual, .dateLess, .dateAtMost, .dateMore, .dateAtLeast:
      guard tag == 0xD7, reader.left >= 10,
        reader.at.load(fromByteOffset: 1, as: UInt8.self) == RecordFormat.Extension.date
      else { return .ask }
      return compared(step, reader.double(at: 2))
    case .textEqual, .textLess, .textAtMost, .textMore, .textAtLeast, .textPrefix, .textSuffix:
      guard let bytes = reader.plainText(tag) else { return .ask }
      return compared(step, bytes)
    case .hasText: return contained(step, &reader)
    }
  }

  @inline(__always)
  private func compared(_ step: UnsafePointer<Step>, _ value: Double) -> Answer {
    let other = Double(bitPattern: step.pointee.number)
    switch step.pointee.test {
    case .doubleEqual, .dateEqual: return Answer(value == other)
    case .doubleLess, .dateLess: return Answer(value < other)
    case .doubleMore, .dateMore: return Answer(value > other)
    case .doubleAtMost: return Answer(value <= other)
    case .doubleAtLeast: return Answer(value >= other)
    // `Date` has these from `Comparable`: they hold where the opposite does not.
    case .dateAtMost: return Answer(!(other < value))
    default: return Answer(!(value < other))
    }
  }

  @inline(__always)
  private func compared(_ step: UnsafePointer<Step>, _ bytes: UnsafeRawBufferPointer) -> Answer {
    switch step.pointee.test {
    case .textEqual:
      var place = Int(step.pointee.textStart)
      for _ in 0..<step.pointee.textCount {
        let text = self.text(&place)
        if Bytes.equal(text, bytes) { return .yes }
      }
      // Text that is not ASCII may be canonically equivalent.
      return Bytes.areASCII(bytes) ? .no : .ask
    case .textLess, .textAtMost, .textMore, .textAtLeast:
      guard Bytes.areASCII(bytes) else { return .ask }
      var place = Int(step.pointee.textStart)
      let order = Bytes.compare(bytes, text(&place))
      switch step.pointee.test {
      case .textLess: return Answer(order < 0)
      case .textAtMost: return Answer(order <= 0)
      case .textMore: return Answer(order > 0)
      default: return Answer(order >= 0)
      }
    default:
      guard bytes.isASCIIWithoutBreaks else { return .ask }
      var place = Int(step.pointee.textStart)
      let text = text(&place)
      guard bytes.count >= text.count else { return .no }
      let piece =
        step.pointee.test == .textPrefix
        ? bytes[..<text.count] : bytes[(bytes.count - text.count)...]
      return Answer(Bytes.equal(UnsafeRawBufferPointer(rebasing: piece), text))
    }
  }

  private func contained(_ step: UnsafePointer<Step>, _ reader: inout ValueReader) -> Answer {
    var place = Int(step.pointee.textStart)
    let text = text(&place)
    do throws(RecordError) {
      var isPlain = true
      for _ in 0..<(try reader.arrayCount()) {
        guard reader.at < reader.end,
          let bytes = reader.plainText(reader.at.load(as: UInt8.self))
        else { return .ask }
        if Bytes.equal(bytes, text) { return .yes }
        if !Bytes.areASCII(bytes) { isPlain = false }
        try reader.skip()
      }
      return isPlain ? .no : .ask
    } catch {
      return .ask  // It throws there.
    }
  }

  @inline(__always)
  private func text(_ place: inout Int) -> UnsafeRawBufferPointer {
    let base = UnsafeRawPointer(texts.baseAddress.unsafelyUnwrapped)
    let count = Int(base.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    defer { place += 4 + count }
    return UnsafeRawBufferPointer(start: base + place + 4, count: count)
  }
}

extension FilterProgram.Answer {
  @inline(__always) init(_ value: Bool) { self = value ? .yes : .no }
}

extension ValueReader {
  /// The integer in front of the reader, if it has a small tag and is whole.
  @inline(__always)
  fileprivate func plainInteger(_ tag: UInt8) -> Int64? {
    if tag < 0x80 { return Int64(tag) }
    if tag >= 0xE0 { return Int64(Int8(bitPattern: tag)) }
    if left < 9 { return slowInteger() }
    switch tag {
    case 0xCC: return Int64(at.load(fromByteOffset: 1, as: UInt8.self))
    case 0xCD:
      return Int64(UInt16(bigEndian: at.loadUnaligned(fromByteOffset: 1, as: UInt16.self)))
    case 0xCE:
      return Int64(UInt32(bigEndian: at.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
    case 0xD0: return Int64(at.load(fromByteOffset: 1, as: Int8.self))
    case 0xD1: return Int64(Int16(bigEndian: at.loadUnaligned(fromByteOffset: 1, as: Int16.self)))
    case 0xD2: return Int64(Int32(bigEndian: at.loadUnaligned(fromByteOffset: 1, as: Int32.self)))
    case 0xD3: return Int64(bigEndian: at.loadUnaligned(fromByteOffset: 1, as: Int64.self))
    default: return nil
    }
  }

  @inline(never)
  private func slowInteger() -> Int64? {
    // Doubles are read as integers too, but not by this road.
    if at.load(as: UInt8.self) == 0xCB || at.load(as: UInt8.self) == 0xCA { return nil }
    var copy = self
    return try? copy.int64()  // What cannot be read is asked for, and throws, elsewhere.
  }

  @inline(__always)
  fileprivate func double(at offset: Int) -> Double {
    Double(
      bitPattern: UInt64(bigEndian: at.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
  }

  /// The bytes of the text in front of the reader, if it is text and whole.
  @inline(__always)
  fileprivate func plainText(_ tag: UInt8) -> UnsafeRawBufferPointer? {
    let (header, count): (Int, Int)
    if tag & 0xE0 == 0xA0 {
      (header, count) = (1, Int(tag & 0x1F))
    } else if tag == 0xD9, left >= 2 {
      (header, count) = (2, Int(at.load(fromByteOffset: 1, as: UInt8.self)))
    } else {
      var copy = self
      guard 0xDA...0xDB ~= tag else { return nil }
      return try? copy.stringBytes()  // What is cut off is asked for, and throws, elsewhere.
    }
    guard left >= header + count else { return nil }
    return UnsafeRawBufferPointer(start: at + header, count: count)
  }
}
