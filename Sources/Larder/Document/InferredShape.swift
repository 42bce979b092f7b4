/// The fields of documents without a type, as their values show them.
public struct InferredShape: DocumentShape {
  private(set) var fields: [ShapeField<InferredShape>] = []
  private var places: [String: Int] = [:]

  /// Arrays and dictionaries directly inside one another: with an optional around each, their
  /// kind is as deep as the catalogue can keep.
  static let maximumNesting = RecordFormat.maximumDepth / 2 - 1

  var identity: ObjectIdentifier? { nil }
  static var isDeclared: Bool { false }

  /// No field seen yet.
  public init() {}

  /// Whether nothing has been seen.
  public var isEmpty: Bool { fields.isEmpty }

  /// Takes a document's fields in.
  ///
  /// Kinds grow as far as they can: integers to `Int64`, `UInt64` or double, everything to
  /// optional.
  ///
  /// - Throws: ``Conflict`` for a field that holds another kind than before; what was taken in
  ///   until then stays.
  public mutating func add(_ document: DynamicDocument) throws(Conflict) {
    for field in document.fields {
      do {
        let kind = try Self.kind(of: field.value)
        try add(field.name, kind)
      } catch {
        throw Conflict(path: [field.name] + error.path, found: error.found, seen: error.seen)
      }
    }
  }

  /// Two kinds in one field.
  public struct Conflict: Error {
    /// Names of the fields down to the value.
    public let path: [String]
    public let found: String
    public let seen: String
  }

  private mutating func add(_ name: String, _ kind: Kind<InferredShape>) throws(Conflict) {
    guard let place = places[name] else {
      places[name] = fields.count
      fields.append(ShapeField(name: name, kind: kind, isRequired: false))
      return
    }
    let joined = try Self.joined(fields[place].kind, kind)
    fields[place] = ShapeField(name: name, kind: joined, isRequired: false)
  }

  private static func kind(
    of value: Value, nesting: Int = 0
  ) throws(Conflict) -> Kind<InferredShape> {
    guard nesting <= maximumNesting else {
      throw Conflict(
        path: [], found: "more", seen: "arrays nested in at most \(maximumNesting) levels")
    }
    switch value {
    case .null: return .optional(.null)
    case .bool: return .bool
    case .integer: return .integer(.int64)
    case .unsigned: return .integer(.uint64)
    case .double: return .double
    case .string: return .string
    case .data: return .data
    case .date: return .date
    case .uuid: return .uuid
    case .url: return .url
    case .decimal: return .decimal
    case .array(let values):
      var element = Kind<InferredShape>.null
      for value in values { element = try joined(element, kind(of: value, nesting: nesting + 1)) }
      return .array(element)
    case .dictionary(let pairs):
      var key = Kind<InferredShape>.null
      var value = Kind<InferredShape>.null
      for pair in pairs {
        key = try joined(key, kind(of: pair.key, nesting: nesting + 1))
        value = try joined(value, kind(of: pair.value, nesting: nesting + 1))
      }
      return .dictionary(key, value)
    case .document(let document):
      var shape = InferredShape()
      try shape.add(document)
      return .document(shape)
    }
  }

  private static func joined(
    _ first: Kind<InferredShape>, _ second: Kind<InferredShape>
  ) throws(Conflict) -> Kind<InferredShape> {
    switch (first, second) {
    case _ where first == second: return first
    case (.null, _): return second
    case (_, .null): return first
    case (.optional(let first), .optional(let second)):
      return .optional(try joined(first, second))
    case (.optional(let first), _): return .optional(try joined(first, second))
    case (_, .optional(let second)): return .optional(try joined(first, second))
    case (.array(let first), .array(let second)): return .array(try joined(first, second))
    case (.dictionary(let key, let value), .dictionary(let otherKey, let otherValue)):
      return .dictionary(try joined(key, otherKey), try joined(value, otherValue))
    case (.document(var shape), .document(let other)):
      for field in other.fields {
        do {
          try shape.add(field.name, field.kind)
        } catch {
          throw Conflict(path: [field.name] + error.path, found: error.found, seen: error.seen)
        }
      }
      return .document(shape)
    case (.integer, .integer): return .double  // Int64 and UInt64.
    case (.integer, .double), (.double, .integer): return .double
    default: throw Conflict(path: [], found: "\(second)", seen: "\(first)")
    }
  }
}
