/// What an aggregate has gathered of some records.
protocol PartialAggregate<Result> {
  associatedtype Result

  mutating func add(_ record: borrowing RecordReader) throws

  /// Adds what another has gathered, of records with larger keys.
  mutating func add(contentsOf other: Self) throws

  /// Whether the order of the records matters to what was gathered, as it does to sums that are rounded:
  /// then nothing can be taken away exactly, and what parts have gathered is not what all have.
  var dependsOnOrder: Bool { get }

  /// Whether so much was gathered that several threads would hold it many times over.
  var isLarge: Bool { get }

  func result() throws -> Result
}

extension PartialAggregate {
  var dependsOnOrder: Bool { false }
  var isLarge: Bool { false }
}

/// One that a record can be taken away from again, so that it follows changes without a look at the
/// other records.
protocol RunningAggregate<Result>: PartialAggregate {
  /// Takes away a record that was added.
  mutating func remove(_ record: borrowing RecordReader) throws
}

/// How many there are.
struct RunningCount: RunningAggregate {
  var count = 0

  mutating func add(_ record: borrowing RecordReader) { count += 1 }
  mutating func add(contentsOf other: Self) { count += other.count }
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

  mutating func add(contentsOf other: Self) { total.add(contentsOf: other.total) }

  var dependsOnOrder: Bool { total.isRounded }

  func result() throws -> Result { try finish(total) }
}

/// What something is made of what another aggregate says.
struct RunningMap<Base: RunningAggregate, Result>: RunningAggregate {
  var base: Base
  let change: (Base.Result) -> Result

  mutating func add(_ record: borrowing RecordReader) throws { try base.add(record) }
  mutating func add(contentsOf other: Self) throws { try base.add(contentsOf: other.base) }
  mutating func remove(_ record: borrowing RecordReader) throws { try base.remove(record) }
  var dependsOnOrder: Bool { base.dependsOnOrder }
  var isLarge: Bool { base.isLarge }
  func result() throws -> Result { change(try base.result()) }
}

extension RunningAggregate {
  func map<Other>(_ change: @escaping (Result) -> Other) -> any RunningAggregate<Other> {
    RunningMap(base: self, change: change)
  }
}
