#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The fields of documents without a type, as their values show them.
public struct InferredShape: DocumentShape {
  private(set) var fields: [ShapeField<InferredShape>] = []
  private var places: [String: Int] = [:]
  /// What the catalogue has: a field that a type declared there takes whatever can be coerced to
  /// its kind, so that nothing is inferred for it.
  private let tables: [FieldTable]
  private let table: Int
  /// Whether -0.0 counts as an integer where a field has no other doubles: the JSON reader gives
  /// it for `-0`, which must not make a field of integers one of doubles and round the large ones.
  private let minusZeroIsInteger: Bool

  /// Arrays and dictionaries directly inside one another: with an optional around each, their
  /// kind is as deep as the catalogue can keep.
  static let maximumNesting = RecordFormat.maximumDepth / 2 - 1

  var identity: ObjectIdentifier? { nil }
  static var isDeclared: Bool { false }

  /// No field seen yet.
  public init() { self.init(tables: [], table: 0) }

  /// No field seen yet, of documents of a collection that may exist.
  init(_ description: CollectionDescription?, minusZeroIsInteger: Bool = false) {
    self.init(
      tables: description?.tables ?? [], table: description?.documentTable ?? 0,
      minusZeroIsInteger: minusZeroIsInteger)
  }

  private init(tables: [FieldTable], table: Int, minusZeroIsInteger: Bool = false) {
    self.tables = tables
    self.table = table
    self.minusZeroIsInteger = minusZeroIsInteger
  }

  /// Whether nothing has been seen.
  public var isEmpty: Bool { fields.isEmpty }

  /// Names and kinds of the fields seen, for people; without those that a type declares.
  public var summary: [(name: String, kind: String)] {
    fields.filter { declaredKind(of: $0.name) == nil }.map { ($0.name, "\($0.kind)") }
  }

  /// Takes a document's fields in.
  ///
  /// Kinds grow as far as they can: integers to `Int64`, `UInt64` or double, everything to
  /// optional.
  ///
  /// - Throws: ``Conflict`` for a field that holds another kind than before; what was taken in
  ///   until then stays.
  public mutating func add(_ document: DynamicDocument) throws(Conflict) {
    for field in document.fields { try add(field, nesting: 0) }
  }

  /// Two kinds in one field.
  public struct Conflict: Error {
    /// Names of the fields down to the value.
    public fileprivate(set) var path: [String] = []
    /// The same with the places in arrays and the keys of dictionaries.
    public fileprivate(set) var steps: [String] = []
    public let found: String
    public let seen: String
  }

  public static func == (left: Self, right: Self) -> Bool { left.fields == right.fields }
  public func hash(into hasher: inout Hasher) { hasher.combine(fields) }

  private mutating func add(_ field: DynamicDocument.Field, nesting: Int) throws(Conflict) {
    let declared = declaredKind(of: field.name)
    if let declared, !declared.holdsDocuments { return }
    let place = places[field.name]
    let seen = place.map { fields[$0].kind } ?? .null
    let kind: Kind<InferredShape>
    do {
      kind = try joined(seen, field.value, declared, at: field.name, nesting: nesting)
    } catch {
      var conflict = error
      conflict.path.insert(field.name, at: 0)
      throw conflict
    }
    if let place {
      guard kind != seen else { return }
      fields[place] = ShapeField(name: field.name, kind: kind, isRequired: false)
    } else {
      places[field.name] = fields.count
      fields.append(ShapeField(name: field.name, kind: kind, isRequired: false))
    }
  }

  private func declaredKind(of name: String) -> Kind<Int>? {
    guard table < tables.count, let field = tables[table].field(named: name), field.isDeclared
    else { return nil }
    return field.kind
  }
}

// MARK: Kinds

extension InferredShape {
  private func joined(
    _ seen: Kind<InferredShape>, _ value: Value, _ declared: Kind<Int>?, at place: String,
    nesting: Int
  ) throws(Conflict) -> Kind<InferredShape> {
    do {
      guard let declared else { return try joined(seen, value, nesting: nesting) }
      return try joined(seen, value, declared: declared.unwrapped, nesting: nesting)
    } catch {
      var conflict = error
      conflict.steps.insert(place, at: 0)
      throw conflict
    }
  }

  /// The kind that holds what was seen before and this value.
  private func joined(
    _ seen: Kind<InferredShape>, _ value: Value, nesting: Int
  ) throws(Conflict) -> Kind<InferredShape> {
    guard nesting <= Self.maximumNesting else {
      throw Conflict(
        found: "more", seen: "arrays nested in at most \(Self.maximumNesting) levels")
    }
    switch (seen, value) {
    case (.optional, .null): return seen
    case (_, .null): return .optional(seen)
    case (.optional(let seen), _): return .optional(try joined(seen, value, nesting: nesting))
    case (.null, .array(let values)):
      return .array(try joined(.null, values, nil, nesting: nesting))
    case (.array(let element), .array(let values)):
      return .array(try joined(element, values, nil, nesting: nesting))
    case (.null, .dictionary(let pairs)):
      return try joined(.null, .null, pairs, nesting: nesting)
    case (.dictionary(let key, let value), .dictionary(let pairs)):
      return try joined(key, value, pairs, nesting: nesting)
    case (.null, .document(let document)):
      let shape = InferredShape(tables: [], table: 0, minusZeroIsInteger: minusZeroIsInteger)
      return .document(try shape.adding(document))
    case (.document(let shape), .document(let document)):
      return .document(try shape.adding(document))
    default:
      let isInteger = minusZeroIsInteger && value.isMinusZero
      let kind = isInteger ? .integer(.int64) : value.scalarKind
      switch (seen, kind) {
      case _ where seen == kind: return seen
      case (.null, let kind?): return kind
      case (.integer, _?) where isInteger: return seen
      case (.integer, .integer?): return .double  // Int64 and UInt64.
      case (.integer, .double?), (.double, .integer?): return .double
      default:
        throw Conflict(found: kind.map { "\($0)" } ?? value.shortDescription, seen: "\(seen)")
      }
    }
  }

  private func joined(
    _ seen: Kind<InferredShape>, _ values: [Value], _ declared: Kind<Int>?, nesting: Int
  ) throws(Conflict) -> Kind<InferredShape> {
    var element = seen
    for (index, value) in values.enumerated() {
      element = try joined(element, value, declared, at: "\(index)", nesting: nesting + 1)
    }
    return element
  }

  private func joined(
    _ seenKey: Kind<InferredShape>, _ seenValue: Kind<InferredShape>, _ pairs: [Value: Value],
    nesting: Int
  ) throws(Conflict) -> Kind<InferredShape> {
    var (key, value) = (seenKey, seenValue)
    for pair in pairs {
      let place = pair.key.description
      key = try joined(key, pair.key, nil, at: place, nesting: nesting + 1)
      value = try joined(value, pair.value, nil, at: place, nesting: nesting + 1)
    }
    return .dictionary(key, value)
  }

  /// Only the fields that are new inside declared documents; whether the values fit is for those
  /// to say who write them.
  private func joined(
    _ seen: Kind<InferredShape>, _ value: Value, declared: Kind<Int>, nesting: Int
  ) throws(Conflict) -> Kind<InferredShape> {
    switch (declared, value) {
    case (.array(let declared), .array(let values)), (.set(let declared), .array(let values)):
      guard declared.holdsDocuments, nesting <= Self.maximumNesting else { return seen }
      var element = Kind<InferredShape>.null
      if case .array(let seen) = seen { element = seen }
      return .array(try joined(element, values, declared, nesting: nesting))
    case (.document(let table), .document(let document)):
      var shape = InferredShape(
        tables: tables, table: table, minusZeroIsInteger: minusZeroIsInteger)
      if case .document(let seen) = seen { shape = seen }
      return .document(try shape.adding(document))
    case (.dictionary(_, let declared), .document(let document)):
      guard declared.holdsDocuments, nesting <= Self.maximumNesting else { return seen }
      var member = Kind<InferredShape>.null
      if case .dictionary(_, let seen) = seen { member = seen }
      for field in document.fields {
        member = try joined(member, field.value, declared, at: field.name, nesting: nesting + 1)
      }
      return .dictionary(.null, member)
    case (.dictionary(_, let declared), .dictionary(let pairs)):
      guard declared.holdsDocuments, nesting <= Self.maximumNesting else { return seen }
      var member = Kind<InferredShape>.null
      if case .dictionary(_, let seen) = seen { member = seen }
      for (key, value) in pairs {
        member = try joined(member, value, declared, at: key.description, nesting: nesting + 1)
      }
      return .dictionary(.null, member)
    default: return seen
    }
  }

  private func adding(_ document: DynamicDocument) throws(Conflict) -> InferredShape {
    var shape = self
    try shape.add(document)
    return shape
  }
}

extension Value {
  fileprivate var isMinusZero: Bool {
    guard case .double(let number) = self else { return false }
    return number == 0 && number.sign == .minus
  }

  fileprivate var scalarKind: Kind<InferredShape>? {
    switch self {
    case .bool: .bool
    case .integer: .integer(.int64)
    case .unsigned: .integer(.uint64)
    case .double: .double
    case .string: .string
    case .data: .data
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .decimal: .decimal
    case .null, .array, .dictionary, .document: nil
    }
  }
}

// MARK: The catalogue

extension InferredShape {
  /// What the catalogue knows of the documents; nil where it does not know the collection.
  package var place: FieldPlace? { table < tables.count ? FieldPlace(tables, table: table) : nil }
}

extension InferredShape.Conflict: CustomStringConvertible, LocalizedError {
  public var description: String {
    "Field `\(steps.joined(separator: "."))`: found \(found), where others hold \(seen)."
  }

  public var errorDescription: String? { description }
}
