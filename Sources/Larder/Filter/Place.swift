/// What conditions are asked of: a document, or an element of an array.
protocol FilterSubject: ~Copyable {
  /// A reader in front of the value that a path begins with; nil where there is none.
  func value(inSlot slot: Int) throws(RecordError) -> ValueReader?
  /// An error met on the way down from the first step of a path.
  static func error(_ error: RecordError, at step: FieldStep) -> RecordError
  var asValue: ValueReader { get }
}

extension RecordReader: FilterSubject {
  /// A reader in front of this record, as if it were embedded in another.
  var asValue: ValueReader {
    ValueReader(numbers - 2, end, binding: binding, depth: depth - 1)
  }

  static func error(_ error: RecordError, at step: FieldStep) -> RecordError {
    .field(step.name, error)
  }
}

/// The value that stands for an element is found at once: the first step of a path is the element.
extension ValueReader: FilterSubject {
  @inline(__always) func value(inSlot slot: Int) -> ValueReader? { self }
  var asValue: ValueReader { self }
  static func error(_ error: RecordError, at step: FieldStep) -> RecordError { error }
}

/// What is found at the end of a path.
enum Destination {
  /// A reader in front of the value.
  case value(ValueReader)
  /// What stands for a value that is not there.
  case absent(Value)
}

extension FilterSubject where Self: ~Copyable {
  /// Goes down a path, whose first step is in `slot`, and lends what is there; nil inside nil is nil.
  fileprivate func reach<Result>(
    _ path: ArraySlice<FieldStep>, slot: Int,
    _ body: (Destination) throws(RecordError) -> Result
  ) throws(RecordError) -> Result {
    let step = path[path.startIndex]
    do throws(RecordError) {
      guard let reader = try value(inSlot: slot) else {
        guard let absent = step.absent else { throw RecordError.missing }
        return try body(.absent(absent))
      }
      let rest = path.dropFirst()
      guard let next = rest.first else { return try body(.value(reader)) }
      if reader.nextIsNil { return try body(.absent(.null)) }
      let record = try RecordReader(
        UnsafeRawBufferPointer(start: reader.at, count: reader.left), binding: reader.binding,
        schema: reader.binding.anonymous, depth: reader.depth + 1)
      let table = reader.binding.collection.tables[record.table]
      return try record.reach(rest, slot: table.slot(of: next.name) ?? -1, body)
    } catch {
      throw Self.error(error, at: step)
    }
  }
}

/// An operand made ready: the first name of its path became a slot.
struct Place: Sendable {
  let operand: Operand
  /// Negative where documents have no such field.
  let slot: Int
  /// Reads the texts that a rank is about.
  private let search: SearchTest?
  /// Whether it is a field of the document itself that holds numbers, and which; nil for other fields.
  private let number: Number?

  private enum Number {
    case integer, double
  }

  /// - Parameter fields: Those of the documents; nil for elements.
  init(_ operand: Operand, in fields: FieldTable?) {
    self.operand = operand
    number =
      if case .field(let path) = operand, path.count == 1 {
        switch IndexScalar(path[0].kind) {
        case .integer: .integer
        case .double: .double
        default: nil
        }
      } else { nil }
    search =
      if case .rank(let rank) = operand { SearchTest(rank.condition, in: fields) } else { nil }
    switch operand {
    case .field(let path), .derived(let path, _):
      slot = fields.map { $0.slot(of: path[0].name) ?? -1 } ?? 0
    case .computed, .rank: slot = -1
    }
  }

  /// Lends what is found at the end of `path`.
  ///
  /// - Throws: ``RecordError`` when it cannot be read; whatever `body` throws.
  func reach<Result>(
    _ path: [FieldStep], in subject: borrowing some FilterSubject & ~Copyable,
    _ body: (Destination) throws(RecordError) -> Result
  ) throws(RecordError) -> Result {
    try subject.reach(path[...], slot: slot, body)
  }

  /// How well a document matches the search of a rank; nil where it does not match.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func score(
    ofMatch subject: borrowing some FilterSubject & ~Copyable
  ) throws(RecordError) -> Double? {
    guard case .rank(let rank) = operand, let search, let statistics = rank.statistics else {
      return nil
    }
    return try search.score(ofMatch: subject, statistics)
  }

  /// A number that stands there as its field's type has it; nil for all else, errors too. It spares the way
  /// down a path, whose steps are copied.
  @inline(__always)
  private func plainNumber(in subject: borrowing some FilterSubject & ~Copyable) -> Value? {
    guard let number, var reader = try? subject.value(inSlot: slot), let tag = reader.nextTag
    else { return nil }
    switch (number, tag) {
    case (.integer, 0x00...0x7F), (.integer, 0xE0...0xFF), (.integer, 0xCC...0xCE),
      (.integer, 0xD0...0xD3):
      guard let value = try? reader.int64() else { return nil }
      return .integer(value)
    case (.double, 0xCB):
      guard let value = try? reader.double() else { return nil }
      return .double(value)
    default: return nil
    }
  }

  /// - Throws: ``RecordError`` when the value cannot be read.
  func value(in subject: borrowing some FilterSubject & ~Copyable) throws(RecordError) -> Value {
    if let value = plainNumber(in: subject) { return value }
    switch operand {
    case .computed(let computed): return try computed.value(subject.asValue)
    case .rank(let rank):
      guard let search, let statistics = rank.statistics else {
        assertionFailure("a rank was asked for before the collection was")
        return .double(0)
      }
      return .double(try search.score(of: subject, statistics))
    case .field(let path):
      return try reach(path, in: subject) { (destination) throws(RecordError) in
        switch destination {
        case .absent(let value): return value
        case .value(var reader): return try reader.value().read(as: path[path.count - 1].kind)
        }
      }
    case .derived(let path, let derivation):
      return try reach(path, in: subject) { (destination) throws(RecordError) in
        switch destination {
        case .absent(let value): return derivation(value)
        case .value(var reader): return try derivation(&reader, as: path[path.count - 1].kind)
        }
      }
    }
  }
}
