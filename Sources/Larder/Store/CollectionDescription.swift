/// What the catalogue keeps on disk of one collection, and how declarations change it.
struct CollectionDescription: Equatable, Sendable {
  let name: String
  let keyKind: KeyKind
  /// The name of the field that is the entity-accessor key; nil where the key is computed.
  var keyField: String?
  var tables: [FieldTable] = [FieldTable()]

  /// Adds what `fields` declare to table 0 and to the tables of the documents embedded in it.
  ///
  /// Fields keep their slots for ever. A declared kind widens a narrower one that is stored
  /// (`Int32` to `Int`, `Int` to `Double`, anything to optional) and replaces one that was only
  /// inferred from nulls; a kind that is inferred changes nothing that a type declared.
  ///
  /// - Throws: ``StoreError/kindMismatch(collection:field:stored:declared:)``.
  mutating func merge<Shape: DocumentShape>(_ shape: Shape) throws(StoreError) {
    var merger = FieldMerger<Shape>(description: self)
    try merger.merge(shape, into: 0, path: [])
    self = merger.description
  }
}

/// Something that says which fields a document has: a schema, or values that were looked at.
protocol DocumentShape: Hashable, Sendable {
  var fields: [ShapeField<Self>] { get }
  /// Where two places with one identity share a field table; nil where each has its own.
  var identity: ObjectIdentifier? { get }
  /// Whether kinds come from a Swift type and not from values.
  static var isDeclared: Bool { get }
}

struct ShapeField<Reference: Hashable & Sendable>: Hashable, Sendable {
  let name: String
  let kind: Kind<Reference>
  let isRequired: Bool
}

extension SchemaReference: DocumentShape {
  var fields: [ShapeField<SchemaReference>] { schema.shapeFields }
  var identity: ObjectIdentifier? { type }
  static var isDeclared: Bool { true }
}

extension AnySchema {
  var shapeFields: [ShapeField<SchemaReference>] {
    fields.map { ShapeField(name: $0.name, kind: $0.kind, isRequired: $0.isRequired) }
  }
}

/// One walk over a shape.
private struct FieldMerger<Shape: DocumentShape> {
  var description: CollectionDescription
  /// Tables of the types that this walk has seen: a type that contains itself ends here.
  private var tables: [ObjectIdentifier: Int] = [:]

  init(description: CollectionDescription) { self.description = description }

  mutating func merge(_ shape: Shape, into table: Int, path: [String]) throws(StoreError) {
    if let identity = shape.identity {
      if tables[identity] != nil { return }
      tables[identity] = table
    }
    for field in shape.fields {
      let path = path + [field.name]
      guard let slot = description.tables[table].slot(of: field.name) else {
        let kind = try newKind(field.kind, path: path)
        description.tables[table].append(
          StoredField(
            name: field.name, kind: kind, isDeclared: Shape.isDeclared,
            isRequired: Shape.isDeclared && field.isRequired))
        continue
      }
      var stored = description.tables[table][slot]
      if Shape.isDeclared || !stored.isDeclared {
        stored.kind = try joined(stored.kind, field.kind, isFirst: !stored.isDeclared, path: path)
      } else {
        try addFields(of: field.kind, to: stored.kind, path: path)
      }
      if Shape.isDeclared {
        // Only ever weakened: two versions of an app would take turns at it otherwise.
        stored.isRequired = field.isRequired && (stored.isRequired || !stored.isDeclared)
        stored.isDeclared = true
      }
      description.tables[table][slot] = stored
    }
  }

  /// The kind as the catalogue keeps it, with new tables for the documents in it.
  private mutating func newKind(
    _ kind: Kind<Shape>, path: [String]
  ) throws(StoreError) -> Kind<Int> {
    var kindError: StoreError?
    let result = kind.mapReferences { shape in
      if let identity = shape.identity, let table = tables[identity] { return table }
      let table = description.tables.count
      description.tables.append(FieldTable())
      do throws(StoreError) {
        try merge(shape, into: table, path: path)
      } catch {
        kindError = error
      }
      return table
    }
    if let kindError { throw kindError }
    return result
  }

  /// The kind that holds both. `isFirst`: no type has declared the stored one yet.
  private mutating func joined(
    _ stored: Kind<Int>, _ declared: Kind<Shape>, isFirst: Bool, path: [String]
  ) throws(StoreError) -> Kind<Int> {
    switch (stored, declared) {
    case (.null, _): return try newKind(declared, path: path)
    case (_, .null): return stored
    case (.any, _), (_, .any): return .any
    case (.optional(let stored), .optional(let declared)):
      return .optional(try joined(stored, declared, isFirst: isFirst, path: path))
    case (.optional(let stored), _):
      return .optional(try joined(stored, declared, isFirst: isFirst, path: path))
    case (_, .optional(let declared)):
      return .optional(try joined(stored, declared, isFirst: isFirst, path: path))
    case (.array(let stored), .array(let declared)):
      return .array(try joined(stored, declared, isFirst: isFirst, path: path))
    case (.array(let stored), .set(let declared)) where isFirst,
      (.set(let stored), .set(let declared)):
      return .set(try joined(stored, declared, isFirst: isFirst, path: path))
    case (.dictionary(let key, let value), .dictionary(let declaredKey, let declaredValue)):
      return .dictionary(
        try joined(key, declaredKey, isFirst: isFirst, path: path),
        try joined(value, declaredValue, isFirst: isFirst, path: path))
    case (.document(let table), .document(let shape)):
      try merge(shape, into: table, path: path)
      return stored
    default: break
    }
    if let kind = Kind<Int>.widened(stored, declared.withoutReferences) { return kind }
    throw .kindMismatch(
      collection: description.name, field: path.joined(separator: "."), stored: "\(stored)",
      declared: "\(declared)")
  }

  /// Adds fields that are new inside documents of a declared kind, which itself stays.
  private mutating func addFields(
    of kind: Kind<Shape>, to stored: Kind<Int>, path: [String]
  ) throws(StoreError) {
    switch (kind, stored) {
    case (.optional(let kind), _): try addFields(of: kind, to: stored, path: path)
    case (_, .optional(let stored)): try addFields(of: kind, to: stored, path: path)
    case (.array(let kind), .array(let stored)), (.array(let kind), .set(let stored)):
      try addFields(of: kind, to: stored, path: path)
    case (.document(let shape), .document(let table)):
      try merge(shape, into: table, path: path)
    default: break
    }
  }
}

extension Kind where Reference == Int {
  /// The kind that holds values of both scalar kinds, or nil where none does.
  static func widened(_ first: Kind, _ second: Kind?) -> Kind? {
    guard let second else { return nil }
    switch (first, second) {
    case _ where first == second: return first
    case (.integer(let first), .integer(let second)):
      return first.joined(with: second).map(Kind.integer)
    case (.float, .double), (.double, .float): return .double
    case (.integer, .double), (.double, .integer): return .double
    case (.integer(let width), .float), (.float, .integer(let width)):
      return width.bitCount <= 16 ? .float : .double
    default: return nil
    }
  }
}

extension Kind {
  /// The same scalar kind in the catalogue's words; nil for kinds that hold others.
  var withoutReferences: Kind<Int>? {
    switch self {
    case .bool: .bool
    case .integer(let width): .integer(width)
    case .float: .float
    case .double: .double
    case .string: .string
    case .data: .data
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .decimal: .decimal
    default: nil
    }
  }
}
