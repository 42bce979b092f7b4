/// The stored fields of a document type: what ``Document(as:)`` writes, or a person by hand.
///
/// ```swift
/// static let schema = Schema<Contact>(
///   "Contact", key: \.id,
///   fields: [
///     Field("id", \.id),
///     Field("tel", \.phone, default: ""),
///   ])
/// ```
/// A field's number is its place in the list; `encode` and `init(from:)` name fields by it.
public final class Schema<Owner>: AnySchema, @unchecked Sendable {
  // Immutable after init, like its superclass; unchecked because key paths are not Sendable.
  private let names: [PartialKeyPath<Owner>: String]
  private let numbers: [PartialKeyPath<Owner>: Int]
  /// The fields with an index of their own.
  let indexedFields: [(FieldDescription, FieldIndex)]

  /// - Parameters:
  ///   - name: The collection's name, 1 to 200 bytes of UTF-8.
  ///   - key: The field that is the entity-accessor key, where one field is.
  ///   - fields: Every stored field; their names differ.
  public init(_ name: String, key: PartialKeyPath<Owner>? = nil, fields: [Field<Owner>]) {
    let names = Dictionary(
      fields.filter(\.isLowered).map { ($0.path, $0.description.name) },
      uniquingKeysWith: { first, _ in first })
    let keyName = key.map { key in
      guard let name = names[key] else {
        preconditionFailure("the key of \(Owner.self) is not among its fields")
      }
      return name
    }
    self.names = names
    numbers = Dictionary(
      fields.enumerated().filter(\.element.isLowered).map { ($0.element.path, $0.offset) },
      uniquingKeysWith: { first, _ in first })
    indexedFields = fields.compactMap { field in field.index.map { (field.description, $0) } }
    super.init(
      name: name, keyField: keyName, fields: fields.map(\.description),
      searchedFields: fields.compactMap { field in
        field.searchWeight.map { (field.description, $0) }
      })
  }

  /// The stored name of the field at `path`, or nil for a property that is not stored.
  func name(of path: PartialKeyPath<Owner>) -> String? { names[path] }

  /// The number of the field at `path`; nil for what is not stored, or by its type's own coding.
  func number(of path: PartialKeyPath<Owner>) -> Int? { numbers[path] }

  /// The key paths that conditions may name.
  var paths: some Swift.Collection<PartialKeyPath<Owner>> { names.keys }
}

/// A schema without its type.
@_documentation(visibility: internal)
public class AnySchema: @unchecked Sendable {  // Immutable after init; see `FieldDescription`.
  /// The collection's name.
  public let name: String
  /// The name of the field that is the entity-accessor key.
  public let keyField: String?
  /// Whether its key is known to be none of its fields. A type whose fields are not known may have any key.
  var computesKeys: Bool { keyField == nil && !fields.isEmpty }
  /// Every stored field, in declared order.
  public let fields: [FieldDescription]
  /// The fields that are marked as searchable, with their weights.
  let searchedFields: [(FieldDescription, Int)]

  init(
    name: String, keyField: String?, fields: [FieldDescription],
    searchedFields: [(FieldDescription, Int)] = []
  ) {
    precondition(fields.count <= Int(UInt16.max), "\(name) has more than 65,535 fields")
    var names: Set<String> = []
    for field in fields where !names.insert(field.name).inserted {
      preconditionFailure("two fields of \(name) are stored as `\(field.name)`")
    }
    self.name = name
    self.keyField = keyField
    self.fields = fields
    self.searchedFields = searchedFields
  }
}

/// One stored field of `Owner`.
public struct Field<Owner> {
  let path: PartialKeyPath<Owner>
  var description: FieldDescription
  /// Whether conditions may compare what is stored. What a type's own `Codable` writes need not be
  /// in the order, or equal, as the values are.
  let isLowered: Bool
  var index: FieldIndex?
  /// What a word counts in this field; nil where it is not searched.
  var searchWeight: Int?

  /// A field that every record has; one that is missing in an old record is an error, unless
  /// its type is optional.
  public init<Value: Storable>(_ name: String, _ path: KeyPath<Owner, Value>) {
    self.path = path
    description = FieldDescription(name: name, kind: Value._kind, defaultValue: nil)
    isLowered = true
  }

  /// A field that is `default` in records which lack it.
  ///
  /// - Parameter value: Made twice, to see whether it is the same each time. All records that lack the field
  ///   have the first.
  public init<Value: Storable & Sendable>(
    _ name: String, _ path: KeyPath<Owner, Value>, default value: @autoclosure () -> Value
  ) {
    self.path = path
    description = FieldDescription(name: name, kind: Value._kind, default: value)
    isLowered = true
  }
}

/// What a field says about its own index.
struct FieldIndex: Sendable {
  let isUnique: Bool
  let isDescending: Bool
}

/// A field without its owner: name, kind and default.
@_documentation(visibility: internal)
public struct FieldDescription: Sendable {
  /// The name on disk.
  public let name: String
  /// What kind of value it holds.
  public let kind: Kind<SchemaReference>
  /// The value in records that lack the field.
  public let defaultValue: (any Storable & Sendable)?
  /// The default made once more, which differs where each process has another one (``FieldStep/isSettled``).
  let secondDefaultValue: (any Storable & Sendable)?
  /// How it is merged, where its type says so.
  package internal(set) var mergeRule: MergeRule?

  init(
    name: String, kind: Kind<SchemaReference>, defaultValue: (any Storable & Sendable)?,
    secondDefaultValue: (any Storable & Sendable)? = nil
  ) {
    self.name = name
    self.kind = kind
    self.defaultValue = defaultValue
    self.secondDefaultValue = secondDefaultValue
  }

  init<Value: Storable & Sendable>(
    name: String, kind: Kind<SchemaReference>, default value: () -> Value
  ) {
    let first = value()
    // Two moments may be one to a clock, and to a `Double` that counts from 2001.
    if kind.unwrapped == .date || kind.holdsDocuments { Self.awaitAnotherMoment() }
    self.init(name: name, kind: kind, defaultValue: first, secondDefaultValue: value())
  }

  private static func awaitAnotherMoment() {
    let start = ContinuousClock.now
    // A clock that stands still is not waited for.
    for _ in 0..<1000 where start.duration(to: .now) > .microseconds(5) { break }
  }

  /// Whether a record without this field cannot be read.
  package var isRequired: Bool { defaultValue == nil && !kind.isOptional }
}

/// The schema of an embedded document's type, looked up when it is needed, so that a type may
/// contain itself.
@_documentation(visibility: internal)
public struct SchemaReference: Hashable, Sendable {
  let type: ObjectIdentifier
  private let resolve: @Sendable () -> AnySchema

  /// A reference to the schema of an embedded type.
  public init<Embedded: EmbeddedDocument>(_ type: Embedded.Type) {
    self.type = ObjectIdentifier(type)
    resolve = { Embedded.schema }
  }

  var schema: AnySchema { resolve() }

  public static func == (left: Self, right: Self) -> Bool { left.type == right.type }
  public func hash(into hasher: inout Hasher) { hasher.combine(type) }
}
