/// A filter as a flat list of tests with jumps between them, asked of documents or of the elements
/// of an array.
///
/// Each test looks at one field; where its bytes are of the expected kind nothing is decoded, copied
/// or counted. Where they do not tell (a number of another width, text that is not ASCII, a value
/// that is computed) the value is decoded and compared as Swift compares it.
final class FilterProgram: @unchecked Sendable {  // Immutable after init.
  private let steps: UnsafeMutableBufferPointer<Step>
  private let texts: UnsafeMutableBufferPointer<UInt8>
  /// What each step asks where bytes do not tell.
  private let questions: [Question]
  private let start: Int32

  /// Where a step goes on: another step, or the end.
  static let matches: Int32 = -1
  static let fails: Int32 = -2

  struct Step {
    var test = ByteTest.ask
    /// The field's slot, or ``isAsked``.
    var slot = Step.isAsked
    var ifTrue: Int32
    var ifFalse: Int32
    /// What holds for a record without the field, and for one in which it is nil.
    var ifAbsent = Answer.ask
    var ifNil = Answer.ask
    /// What the texts have, so that they have no equals of other bytes in a text of that kind.
    var letters = Letters.ascii
    /// The keys that it holds for; of a text, what comparing bytes gives.
    var range = ScalarRange(0, 0)
    /// The texts that are compared with: each its length, 4 bytes, and its UTF-8.
    var textStart: Int32 = 0
    var textCount: Int32 = 0
    /// Of a text that is looked for inside others, the byte that is looked for first.
    var anchor: Int32 = 0

    /// For what is not found in a slot.
    static var isAsked: Int32 { -2 }
  }

  /// How far the letters of a text are from ASCII.
  enum Letters: UInt8 {
    case ascii
    /// Below U+0300.
    case latin
    /// As in ``Swift/UnsafeRawBufferPointer/isComposed``.
    case composed
    case any
  }

  enum Answer: UInt8 {
    case no, yes, ask

    @inline(__always) init(_ value: Bool) { self = value ? .yes : .no }
  }

  enum Question: Sendable {
    case test(Place, Comparison, elements: FilterProgram?, listed: ValueSet?)
    case relation(Place, Relation, Place)
    case search(SearchTest)
  }

  /// A filter of documents, or with `fields` nil of elements.
  init(_ filter: FilterNode, in fields: FieldTable?) {
    var builder = Builder(fields: fields)
    let start = builder.add(filter, ifTrue: Self.matches, ifFalse: Self.fails)
    // Written back to front, so that every step knows where it goes on.
    let last = Int32(builder.steps.count) - 1
    func place(_ target: Int32) -> Int32 { target < 0 ? target : last - target }
    self.start = place(start)
    steps = .allocate(capacity: max(1, builder.steps.count))
    for (index, var step) in builder.steps.reversed().enumerated() {
      step.ifTrue = place(step.ifTrue)
      step.ifFalse = place(step.ifFalse)
      steps.initializeElement(at: index, to: step)
    }
    texts = .allocate(capacity: max(1, builder.texts.count))
    _ = texts.initialize(from: builder.texts)
    questions = builder.questions.reversed()
  }

  deinit {
    steps.deallocate()
    texts.deallocate()
  }

  /// Whether it holds for the document or element.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func holds<Subject: FilterSubject & ~Copyable>(
    for subject: borrowing Subject
  ) throws(RecordError) -> Bool {
    var next = start
    while next >= 0 {
      let step = steps.baseAddress.unsafelyUnwrapped + Int(next)
      var answer = Answer.ask
      if step.pointee.slot != Step.isAsked {
        if let reader = try subject.value(inSlot: Int(step.pointee.slot)) {
          answer = self.answer(step, reader)
        } else {
          answer = step.pointee.ifAbsent
        }
      }
      let holds =
        switch answer {
        case .yes: true
        case .no: false
        case .ask: try ask(Int(next), subject)
        }
      next = holds ? step.pointee.ifTrue : step.pointee.ifFalse
    }
    return next == Self.matches
  }

  /// What most records that do not match are held back by; nil where the first test is none for it.
  func sieve(tableCount: Int) -> RecordSieve? {
    guard start >= 0 else { return nil }
    let step = steps[Int(start)]
    guard step.ifFalse == Self.fails, step.slot >= 0 else { return nil }
    var place = Int(step.textStart)
    let texts = (0..<step.textCount).map { _ in text(&place) }
    return RecordSieve(step, texts, tableCount: tableCount)
  }
}

// MARK: Asking

extension FilterProgram {
  @inline(never)
  private func ask<Subject: FilterSubject & ~Copyable>(
    _ number: Int, _ subject: borrowing Subject
  ) throws(RecordError) -> Bool {
    switch questions[number] {
    case .relation(let left, let relation, let right):
      return relation.holds(try left.value(in: subject), try right.value(in: subject))
    case .search(let search): return try search.holds(for: subject)
    case .test(let place, let comparison, let elements, let listed):
      guard case .field(let path) = place.operand else {
        return comparison.holds(for: try place.value(in: subject), listed: listed)
      }
      return try place.reach(path, in: subject) { (destination) throws(RecordError) in
        switch destination {
        case .absent(let value):
          return elements?.holdsForAny(in: value) ?? comparison.holds(for: value, listed: listed)
        case .value(var reader):
          if let elements { return try elements.holdsForAny(in: &reader) }
          switch answer(steps.baseAddress.unsafelyUnwrapped + number, reader) {
          case .yes: return true
          case .no: return false
          case .ask:
            let value = try reader.value().read(as: path[path.count - 1].kind)
            return comparison.holds(for: value, listed: listed)
          }
        }
      }
    }
  }
}

// MARK: Comparing bytes

extension FilterProgram {
  @inline(__always)
  private func answer(_ step: UnsafePointer<Step>, _ reader: ValueReader) -> Answer {
    guard reader.at < reader.end else { return .ask }
    if reader.nextIsNil { return step.pointee.ifNil }
    switch step.pointee.test {
    case .ask: return .ask
    case .isNil: return .no
    case .bool, .integer, .double, .date:
      guard let key = step.pointee.test.key(reader.at, left: reader.left) else { return .ask }
      return Answer(step.pointee.range.contains(key))
    case .textEqual, .textOrder, .textPrefix, .textSuffix, .textContains:
      guard let bytes = reader.plainText else { return .ask }
      return compared(step, bytes)
    case .element: return contained(step, reader)
    }
  }

  private func compared(_ step: UnsafePointer<Step>, _ bytes: UnsafeRawBufferPointer) -> Answer {
    var place = Int(step.pointee.textStart)
    switch step.pointee.test {
    case .textEqual:
      for _ in 0..<step.pointee.textCount where Bytes.equal(text(&place), bytes) { return .yes }
      return Self.areDifferent(step, bytes) ? .no : .ask
    case .textOrder:
      guard Bytes.areASCII(bytes) || bytes.isComposed else { return .ask }
      return Answer(step.pointee.range.contains(Int64(Bytes.compare(bytes, text(&place)))))
    default:
      let match = TextMatch(part: text(&place), isLatin: step.pointee.letters != .composed)
      return switch step.pointee.test {
      case .textPrefix: match.begins(bytes)
      case .textSuffix: match.ends(bytes)
      default: match.isContained(in: bytes, anchor: Int(step.pointee.anchor))
      }
    }
  }

  /// Whether a text with other bytes than those of a step is none of the step's in another spelling.
  @inline(__always)
  private static func areDifferent(
    _ step: UnsafePointer<Step>, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    switch step.pointee.letters {
    case .ascii, .latin: bytes.spellsLatinOneWay
    case .composed: bytes.isComposed
    case .any: false
    }
  }

  /// Whether a text is an element of an array of texts.
  private func contained(_ step: UnsafePointer<Step>, _ reader: ValueReader) -> Answer {
    var place = Int(step.pointee.textStart)
    let text = text(&place)
    var reader = reader
    do throws(RecordError) {
      for _ in 0..<(try reader.arrayCount()) {
        guard let bytes = reader.plainText else { return .ask }
        if Bytes.equal(bytes, text) { return .yes }
        if Self.areDifferent(step, bytes) {
          try reader.skip()
        } else if try reader.string() == String(decoding: text, as: UTF8.self) {
          return .yes
        }
      }
      return .no
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

extension ValueReader {
  /// The bytes of the text in front of the reader, if it is text and whole.
  @inline(__always)
  fileprivate var plainText: UnsafeRawBufferPointer? {
    guard nextIsString else { return nil }
    var copy = self
    return try? copy.stringBytes()  // What is cut off is asked for, and throws, elsewhere.
  }
}

extension UnsafeRawBufferPointer {
  /// ASCII without CR and LF, which Swift counts as one character when they stand together.
  var isASCIIWithoutBreaks: Bool { allSatisfy { $0 < 0x80 && $0 != 0x0D && $0 != 0x0A } }
}
