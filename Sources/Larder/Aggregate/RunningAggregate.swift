/// What an aggregate is made of while records come in. Those of whom a record can be taken away
/// again follow changes without a look at the others.
protocol RunningAggregate<Result> {
  associatedtype Result

  mutating func add(_ record: borrowing RecordReader) throws

  /// Takes away a record that was added.
  mutating func remove(_ record: borrowing RecordReader) throws

  /// Whether what was added cannot be taken away exactly, so that all records are needed again.
  var isFinal: Bool { get }

  func result() throws -> Result
}

extension RunningAggregate {
  var isFinal: Bool { false }
}

/// How many there are.
struct RunningCount: RunningAggregate {
  var count = 0

  mutating func add(_ record: borrowing RecordReader) { count += 1 }
  mutating func remove(_ record: borrowing RecordReader) { count -= 1 }
  func result() -> Int { count }
}

/// What a field adds up to.
struct RunningTotal<Result>: RunningAggregate {
  private let values: Evaluation
  private let finish: (FieldTotal) throws -> Result
  private var total = FieldTotal()

  init(
    of operand: Operand, in collection: Collection,
    _ finish: @escaping (FieldTotal) throws -> Result
  ) {
    values = Evaluation(reading: [operand], in: collection)
    self.finish = finish
  }

  mutating func add(_ record: borrowing RecordReader) throws {
    total.add(try values.value(0, record))
  }

  mutating func remove(_ record: borrowing RecordReader) throws {
    total.remove(try values.value(0, record))
  }

  var isFinal: Bool { total.isRounded }

  func result() throws -> Result { try finish(total) }
}

/// What something is made of what another aggregate says.
struct RunningMap<Base: RunningAggregate, Result>: RunningAggregate {
  var base: Base
  let change: (Base.Result) -> Result

  mutating func add(_ record: borrowing RecordReader) throws { try base.add(record) }
  mutating func remove(_ record: borrowing RecordReader) throws { try base.remove(record) }
  var isFinal: Bool { base.isFinal }
  func result() throws -> Result { change(try base.result()) }
}

extension RunningAggregate {
  func map<Other>(_ change: @escaping (Result) -> Other) -> any RunningAggregate<Other> {
    RunningMap(base: self, change: change)
  }
}
