#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// How a query without a type becomes the one form that plans and evaluations look at.

extension DynamicQuery {
  /// The query in `collection`.
  ///
  /// - Throws: ``DynamicQueryError``.
  func lowered(in collection: Collection) throws(DynamicQueryError) -> Selection {
    let lowering = DynamicLowering(collection: collection)
    var selection = Selection()
    selection.filter = try lowering.node(filter)
    for key in order {
      selection.order.append(
        SortKey(operand: try lowering.sortOperand(key.path), isReversed: key.isReversed))
    }
    if let search { selection.search(try lowering.condition(search)) }
    selection.maximum = maximumCount.map { max(0, $0) }
    selection.skipped = max(0, skippedCount)
    return selection
  }
}

struct DynamicLowering {
  let collection: Collection

  func node(_ filter: DynamicFilter) throws(DynamicQueryError) -> FilterNode {
    switch filter.form {
    case .constant(let value): return .constant(value)
    case .all(let parts): return .all(try nodes(parts))
    case .any(let parts): return parts.isEmpty ? .constant(false) : .any(try nodes(parts))
    case .not(let part): return .not(try node(part))
    case .test(let path, let comparison): return try test(path, comparison)
    case .tooDeep: return .tooDeep
    }
  }

  private func nodes(_ parts: [DynamicFilter]) throws(DynamicQueryError) -> [FilterNode] {
    var nodes: [FilterNode] = []
    for part in parts { nodes.append(try node(part)) }
    return nodes
  }

  /// The way down to a field, for an index over it.
  func steps(_ path: FieldPath) throws(DynamicQueryError) -> [FieldStep] { try field(path).steps }

  func sortOperand(_ path: FieldPath) throws(DynamicQueryError) -> Operand {
    let (steps, kind) = try field(path)
    guard kind.isCompared else {
      throw refusal(
        path, .name(path.names.count - 1), found: "a field of kind \(kind)",
        expected: "one that has an order: text, a number, a date, a bool, a UUID, a URL or data")
    }
    return .field(steps)
  }

  // MARK: Fields

  /// The way down `path`, and the kind there without its optional.
  func field(
    _ path: FieldPath
  ) throws(DynamicQueryError) -> (steps: [FieldStep], kind: Kind<Int>) {
    var steps: [FieldStep] = []
    var kind = Kind<Int>.document(collection.description.documentTable)
    for (level, name) in path.names.enumerated() {
      guard case .document(let table) = kind else {
        throw refusal(
          path, .name(level), found: "a field inside `\(path.names[level - 1])`, which is \(kind)",
          expected: "no field, for only embedded documents have some")
      }
      let fields = collection.tables[table]
      guard let field = fields.field(named: name) else {
        throw DynamicQueryError(
          collection: collection.name, path: path, unknownName: level,
          knownNames: fields.fields.map(\.name))
      }
      steps.append(FieldStep(field))
      kind = field.kind
      if case .optional(let inner) = kind { kind = inner }
    }
    return (steps, kind)
  }

  // MARK: Comparisons

  private func test(
    _ path: FieldPath, _ comparison: DynamicFilter.Comparison
  ) throws(DynamicQueryError) -> FilterNode {
    let (steps, kind) = try field(path)
    return .test(.field(steps), try lowered(comparison, path, kind))
  }

  private func lowered(
    _ comparison: DynamicFilter.Comparison, _ path: FieldPath, _ kind: Kind<Int>
  ) throws(DynamicQueryError) -> Comparison {
    if comparison == .equal(.null) { return .equal(.null) }
    guard kind.answers(comparison) else {
      throw refusal(
        path, .comparison, found: "a field of kind \(kind), which has no answer to this",
        expected: kind.expectedComparison)
    }
    let compared = kind.compared
    let operands = comparison.operands.map(\.plain)
    if let (bound, isAbove) = operands.first?.neighbour(in: compared) {
      switch comparison {
      case .less, .lessOrEqual: return isAbove ? .less(bound) : .lessOrEqual(bound)
      case .greater, .greaterOrEqual: return isAbove ? .greaterOrEqual(bound) : .greater(bound)
      case .equal, .contains: return .isAny([])
      default: break
      }
    }
    var values: [Value] = []
    for (index, value) in operands.enumerated() {
      // No value of the field equals it.
      if value.neighbour(in: compared) != nil { continue }
      guard let comparable = value.comparable(with: kind.compared) else {
        throw refusal(
          path, .operand(index), found: value == .null ? "nil" : value.shortDescription,
          expected: kind.compared.expectation)
      }
      values.append(comparable)
    }
    switch (comparison, values.first) {
    case (.equal, let value?): return .equal(value)
    case (.less, let value?): return .less(value)
    case (.lessOrEqual, let value?): return .lessOrEqual(value)
    case (.greater, let value?): return .greater(value)
    case (.greaterOrEqual, let value?): return .greaterOrEqual(value)
    case (.contains, .string(let text)?) where kind == .string: return .containsText(text)
    case (.contains, let value?): return .containsElement(value)
    case (.hasPrefix(let text), _): return .hasPrefix(text)
    case (.hasSuffix(let text), _): return .hasSuffix(text)
    case (_, _): return .isOne(of: values)
    }
  }

  func refusal(
    _ path: FieldPath, _ part: DynamicQueryError.Part, found: String, expected: String
  ) -> DynamicQueryError {
    DynamicQueryError(
      collection: collection.name, path: path, part: part, found: found, expected: expected,
      knownNames: [])
  }
}

extension FieldStep {
  /// A field as the catalogue has it: an error where a type requires it, else nil in a record that
  /// lacks it. What a type would have instead, the catalogue does not know.
  fileprivate init(_ field: StoredField) {
    self.init(name: field.name, kind: field.kind.read, absent: field.isRequired ? nil : .null)
  }
}

extension Kind where Reference == Int {
  /// The kind as conditions read it, which look at no more of a document than that it is there.
  fileprivate var read: Kind<SchemaReference> {
    switch self {
    case .document, .dictionary, .any: .any
    case .optional(let inner): .optional(inner.read)
    case .array(let element): .array(element.read)
    case .set(let element): .set(element.read)
    default: mapReferences { _ in preconditionFailure("a scalar refers to no document") }
    }
  }

  /// Whether it has values that conditions compare.
  fileprivate var isCompared: Bool {
    switch self {
    case .document, .array, .set, .dictionary, .optional: false
    default: true
    }
  }

  /// The kind that values are compared with: that of the elements, where there are some.
  fileprivate var compared: Kind {
    switch self {
    case .array(let element), .set(let element):
      if case .optional(let inner) = element { inner } else { element }
    default: self
    }
  }

  fileprivate func answers(_ comparison: DynamicFilter.Comparison) -> Bool {
    // No document has had a value there yet, so that nothing matches, whatever kind it will be.
    if self == .null { return true }
    switch comparison {
    case .equal, .isIn: return isCompared
    case .hasPrefix, .hasSuffix: return self == .string
    case .contains:
      switch self {
      case .string: return true
      case .array, .set: return compared.isCompared
      default: return false
      }
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      switch self {
      case .bool, .data, .url: return false
      default: return isCompared
      }
    }
  }

  /// What an error says was expected behind a field of this kind.
  fileprivate var expectedComparison: String {
    switch self {
    case .bool, .data, .url: "`==`, `!=` or `in`"
    case .array, .set: compared.isCompared ? "`contains`, `== nil` or `!= nil`" : "`!= nil`"
    case .document, .dictionary, .optional: "`== nil` or `!= nil`"
    default: "`==`, `!=`, `<`, `<=`, `>`, `>=` or `in`"
    }
  }
}

extension Value {
  /// The number of `kind` that is next to this one, and whether it is above; nil where a number of
  /// `kind` equals this one, and for other kinds. An index has only numbers of its field's kind, so
  /// that conditions with others are brought to these first.
  fileprivate func neighbour(in kind: Kind<Int>) -> (value: Value, isAbove: Bool)? {
    guard let nearest = nearestNumber, coerced(to: kind) == nil else { return nil }
    if case .decimal(let decimal) = self, case .integer = kind { return decimal.integerNeighbour }
    let value: Value
    switch kind {
    case .decimal:
      guard case .double = self, let decimal = Decimal.towardZero(nearest)?.value else {
        return nil
      }
      return (.decimal(decimal), nearest < 0)
    case .double: value = .double(nearest)
    case .float: value = .double(Double(Float(nearest)))
    default: return nil
    }
    guard let order = value.order(self), order != 0 else { return nil }
    return (value, order > 0)
  }

  /// This value as one that a field of `kind` is compared with; nil where the two have nothing to
  /// do with each other.
  fileprivate func comparable(with kind: Kind<Int>) -> Value? {
    switch (kind, self) {
    case (_, .null), (_, .array), (_, .dictionary), (_, .document): nil
    case (.any, _), (.null, _): self
    case (.integer, .integer), (.integer, .unsigned), (.integer, .double), (.float, .integer),
      (.float, .unsigned), (.float, .double), (.double, .integer), (.double, .unsigned),
      (.double, .double):
      // What the field cannot hold is compared by value all the same.
      coerced(to: kind) ?? self
    case (.integer, .decimal(let decimal)):
      if decimal.isNaN {
        .double(.nan)
      } else {
        coerced(to: kind) ?? coerced(to: .integer(.int64)) ?? coerced(to: .integer(.uint64))
      }
    default: coerced(to: kind)
    }
  }
}

extension Decimal {
  /// The next integer of 64 bits towards zero, and whether it is above; nil where this is one, and for NaN.
  fileprivate var integerNeighbour: (value: Value, isAbove: Bool)? {
    if isNaN { return nil }
    let isNegative = self < 0
    let text = "\(self)"
    let whole = text.prefix { $0 != "." }
    if let number = Int64(whole) {
      return whole.count == text.count ? nil : (.integer(number), isNegative)
    }
    if let number = UInt64(whole) {
      return whole.count == text.count ? nil : (Value(number), false)
    }
    return (isNegative ? .integer(.min) : Value(UInt64.max), isNegative)
  }
}
