#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Aggregate {
  /// The smallest value of a field, as queries sort; nil where there is none. Nil and
  /// a number that is NaN are none. A zero is 0.0, whatever the sign of what is stored, and text is in
  /// normalization form C, whatever the spelling.
  public static func min<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self where Value.Bare: Comparable, Result == Value.Bare? {
    extreme(Fields()[keyPath: field].operand, isLargest: false)
  }

  /// The largest value of a field, as queries sort; nil where there is none. Nil and
  /// a number that is NaN are none. A zero is 0.0, whatever the sign of what is stored, and text is in
  /// normalization form C, whatever the spelling.
  public static func max<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self where Value.Bare: Comparable, Result == Value.Bare? {
    extreme(Fields()[keyPath: field].operand, isLargest: true)
  }

  /// The smallest value of an enum, by its own order; nil where there is none. Costs what
  /// `distinct(_:)` costs.
  public static func min<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self where Value.RawValue: Comparand, Result == Value? {
    Aggregate<Entity, [Value]>.distinct(field).map { $0.min() }
  }

  /// The smallest value of an enum that may be nil, by its own order; nil where there is none.
  public static func min<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>
  ) -> Self where Value.RawValue: Comparand, Result == Value? {
    Aggregate<Entity, [Value?]>.distinct(field).map { $0.compactMap(\.self).min() }
  }

  /// The largest value of an enum, by its own order; nil where there is none. Costs what
  /// `distinct(_:)` costs.
  public static func max<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self where Value.RawValue: Comparand, Result == Value? {
    Aggregate<Entity, [Value]>.distinct(field).map { $0.max() }
  }

  /// The largest value of an enum that may be nil, by its own order; nil where there is none.
  public static func max<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>
  ) -> Self where Value.RawValue: Comparand, Result == Value? {
    Aggregate<Entity, [Value?]>.distinct(field).map { $0.compactMap(\.self).max() }
  }

  private static func extreme<Value: Comparand>(
    _ operand: Operand, isLargest: Bool
  ) -> Self where Result == Value? {
    Self(
      inParts: { PartialExtreme(of: operand, isLargest: isLargest, in: $0) },
      fromIndex: { moment, selection, binding in
        guard selection.maximum == nil, selection.skipped == 0 else { return nil }
        let found = try moment.extreme(
          of: operand, isLargest: isLargest, selection.filter, binding)
        // Nothing found may be for what the index was not asked.
        guard let found else { return nil }
        return .some(try found.extreme(of: operand, in: binding.collection))
      })
  }
}

/// The smallest or the largest value of a field.
private struct PartialExtreme<Result: Comparand>: PartialAggregate {
  private let collection: Collection
  private let operand: Operand
  private let values: Evaluation
  private let isLargest: Bool
  private var best: Value?

  init(of operand: Operand, isLargest: Bool, in collection: Collection) {
    self.collection = collection
    self.operand = operand
    self.isLargest = isLargest
    values = Evaluation(reading: [operand], in: collection)
  }

  mutating func add(_ record: borrowing RecordReader) throws {
    add(try values.value(0, record).sortable)
  }

  mutating func add(contentsOf other: Self) {
    if let value = other.best { add(value) }
  }

  private mutating func add(_ value: Value) {
    guard value.isSomething else { return }
    let order = best.map { value.totalOrder($0) } ?? (isLargest ? 1 : -1)
    if isLargest ? order > 0 : order < 0 { best = value }
  }

  func result() throws -> Result? {
    try best.map { try $0.extreme(of: operand, in: collection) }
  }
}

extension Value {
  /// Neither nil nor a number that is none.
  var isSomething: Bool {
    switch self {
    case .null: false
    case .double(let value): !value.isNaN
    case .decimal(let value): !value.isNaN
    case .date(let value): !value.timeIntervalSinceReferenceDate.isNaN
    default: true
    }
  }

  /// The one value that stands for all that are equal: of 0.0 and -0.0, of numbers that are none, and of
  /// texts that are canonically equivalent, it would depend on the plan which is found first.
  var oneSpelling: Value {
    switch self {
    case .double(0): .double(0)
    case .double(let value) where value.isNaN: .double(.nan)
    case .date(let value) where value.timeIntervalSinceReferenceDate.isNaN:
      .date(Date(timeIntervalSinceReferenceDate: .nan))
    case .date(let value) where value.timeIntervalSinceReferenceDate == 0:
      .date(Date(timeIntervalSinceReferenceDate: 0))
    default: sortable
    }
  }

  /// This value as the type of a field has it.
  ///
  /// - Throws: ``RecordError`` for a value that the type cannot hold, with the names of the fields down to
  ///   it, as the document itself throws where it is decoded.
  func decoded<Field: Storable>(
    as type: Field.Type = Field.self, from operand: Operand
  ) throws(RecordError) -> Field {
    var writer = RecordWriter(binding: .none, capacity: 64)
    writer.putNatural(self)
    let result: Result<Field, RecordError> = writer.withBytes { bytes in
      guard let start = bytes.baseAddress else { return .failure(.truncated) }
      do throws(RecordError) {
        var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
        return .success(try Field._load(from: &reader))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let value): return value
    case .failure(let error):
      throw operand.names.reversed().reduce(error) { .field($1, $0) }
    }
  }

  /// The same for a smallest or largest value. Which document had it is not known any more.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``, without a key.
  fileprivate func extreme<Field: Storable>(
    of operand: Operand, in collection: Collection
  ) throws(StoreError) -> Field {
    do throws(RecordError) {
      return try oneSpelling.decoded(from: operand)
    } catch {
      throw StoreError(unreadable: error, in: collection.name, key: "")
    }
  }
}

extension Operand {
  /// The names of the fields down to what is stored; none where it is computed.
  fileprivate var names: [String] {
    switch self {
    case .field(let path), .derived(let path, _): path.map(\.name)
    case .computed, .rank: []
    }
  }
}
