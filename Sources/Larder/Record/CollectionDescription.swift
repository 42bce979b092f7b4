/// What the catalogue keeps on disk of one collection, and how declarations change it.
struct CollectionDescription: Equatable, Sendable {
  let name: String
  var keyKind: KeyKind
  /// The name of the field that is the entity-accessor key; nil where the key is computed.
  var keyField: String?
  var tables: [FieldTable] = [FieldTable()]
  /// Whether the change log has each change, or only says that there was one.
  var isLogged = true
  /// Whether edits leave an entry in the outbox, for a remote to be told of them.
  var isSynced = false
  /// The table that documents are written with. Each migration begins another, so that the
  /// records of both versions can be read, and told from each other.
  var documentTable = 0
  /// The version to which the documents are being migrated: some still have an earlier table.
  var migratingTo: Int?

  /// The fields of the documents.
  var fields: FieldTable { tables[documentTable] }

  /// Whether a type computes the keys. Of a collection without any field nobody has said yet what its
  /// key is.
  var hasComputedKey: Bool { keyField == nil && !fields.fields.isEmpty }

  /// Adds what `fields` declare to the documents' table and to those of the documents embedded
  /// in them.
  ///
  /// Fields keep their slots for ever. A declared kind widens a narrower one that is stored
  /// (`Int32` to `Int`, `Int` to `Double`, anything to optional) and replaces one that was only
  /// inferred from nulls; a kind that is inferred changes nothing that a type declared.
  ///
  /// - Throws: ``StoreError/kindMismatch(collection:field:stored:declared:)``, or
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)`` when there are more
  ///   fields, or embedded documents with fields of their own, than records can number.
  mutating func merge<Shape: DocumentShape>(_ shape: Shape) throws(StoreError) {
    var merger = FieldMerger(description: self, root: shape)
    try merger.merge(shape, into: documentTable, path: [])
    try merger.description.checkLimits()
    self = merger.description
  }

  /// Gives a field of the documents the kind that `shape` has for it, or an optional of it, which
  /// the one that it had need not become. What records of the documents' table hold in it must be
  /// of the new kind, too.
  ///
  /// - Throws: As ``merge(_:)`` for too many fields.
  mutating func replaceKind<Shape: DocumentShape>(
    of name: String, by shape: Shape, isOptional: Bool
  ) throws(StoreError) {
    guard let slot = fields.slot(of: name),
      let field = shape.fields.first(where: { $0.name == name })
    else { return }
    var merger = FieldMerger(description: self, root: shape)
    let kind = try merger.newKind(field.kind, path: [name])
    let isWrapped = isOptional && !kind.isOptional
    merger.description.tables[documentTable][slot].kind = isWrapped ? .optional(kind) : kind
    merger.description.tables[documentTable][slot].isDeclared = false
    try merger.description.checkLimits()
    self = merger.description
  }

  /// Gives fields inside of embedded documents the kinds of their shapes. The embedded documents of this field get
  /// tables of their own: those of earlier records stay as they are.
  ///
  /// - Parameter shapes: By the table of the embedded documents, and by the name of the field, which is the only one of
  ///   its shape.
  /// - Throws: As ``merge(_:)`` for too many fields.
  mutating func replaceKinds<Shape: DocumentShape>(
    inside name: String, by shapes: [Int: [String: Shape]]
  ) throws(StoreError) {
    guard let slot = fields.slot(of: name) else { return }
    var changed = self
    var copies: [Int: Int] = [:]
    for table in changed.tables(reachedFrom: fields[slot].kind, changing: Set(shapes.keys)) {
      copies[table] = changed.tables.count
      changed.tables.append(tables[table])
    }
    for (table, copy) in copies {
      for (place, field) in tables[table].fields.enumerated() {
        var kind = field.kind.mapReferences { copies[$0] ?? $0 }
        if let shape = shapes[table]?[field.name], let new = shape.fields.first?.kind {
          var merger = FieldMerger(description: changed, root: shape)
          kind = try merger.newKind(new, path: [name, field.name])
          changed = merger.description
          if field.kind.isOptional, !kind.isOptional { kind = .optional(kind) }
          changed.tables[copy][place].isDeclared = false
        }
        changed.tables[copy][place].kind = kind
      }
    }
    changed.tables[documentTable][slot].kind = fields[slot].kind.mapReferences {
      copies[$0] ?? $0
    }
    try changed.checkLimits()
    self = changed
  }

  /// The tables below a kind that are among some, or that have documents of such a table in them.
  private func tables(reachedFrom kind: Kind<Int>, changing changed: Set<Int>) -> [Int] {
    var (reached, waiting) = (Set<Int>(), Self.references(kind))
    while let table = waiting.popLast() {
      guard reached.insert(table).inserted else { continue }
      for field in tables[table].fields { waiting += Self.references(field.kind) }
    }
    var found = reached.intersection(changed)
    while true {
      let more = reached.subtracting(found).filter { table in
        tables[table].fields.contains { Self.references($0.kind).contains(where: found.contains) }
      }
      if more.isEmpty { return found.sorted() }
      found.formUnion(more)
    }
  }

  /// Takes over what a declaration says of the key. Keys that a type computes are no look-up for any field, whatever
  /// another version of it says.
  ///
  /// - Parameters:
  ///   - field: The field that is the key; nil where it is computed, or not known.
  ///   - isComputed: Whether it is known to be computed.
  ///   - stored: The collection as it was before.
  /// - Throws: ``StoreError/keyField(collection:stored:given:)`` where it was another field.
  mutating func settleKey(
    _ field: String?, isComputed: Bool, before stored: CollectionDescription?
  ) throws(StoreError) {
    if isComputed { keyField = nil }
    guard let field, stored?.hasComputedKey != true else { return }
    guard keyField == nil || keyField == field else {
      throw .keyField(collection: name, stored: keyField, given: field)
    }
    keyField = field
  }

  /// The field of the documents that a path begins with, as errors have it: names joined by points, which a name may
  /// have, too.
  func field(at path: String) -> String? {
    fields.fields.map(\.name).filter { path == $0 || path.hasPrefix($0 + ".") }
      .max { $0.utf8.count < $1.utf8.count }
  }

  /// Begins another table for a collection without documents, without one of its fields, which may get another
  /// kind. Records that only the change log and the outbox have left keep theirs.
  ///
  /// - Returns: False where there is no such field, or no room for another table.
  mutating func leave(_ field: String) -> Bool {
    guard fields.slot(of: field) != nil, tables.count < Self.maximumCount else { return false }
    var table = FieldTable()
    for other in fields.fields where other.name != field { table.append(other) }
    tables.append(table)
    documentTable = tables.count - 1
    return true
  }

  /// Has a field take any kind that is declared next: what records hold in it must be written the same way.
  ///
  /// - Parameter path: The names down to the field, as errors have them.
  /// - Returns: The fields of the documents that may have it in them; nil where there is no such field, or it has no
  ///   kind by now.
  mutating func forgetKind(of path: String) -> [String]? {
    guard let (table, slot) = place(of: path[...], in: documentTable),
      tables[table][slot].kind != .null
    else { return nil }
    let affected =
      table == documentTable
      ? [path]
      : fields.fields.filter { !tables(reachedFrom: $0.kind, changing: [table]).isEmpty }
        .map(\.name)
    tables[table][slot].kind = .null
    return affected
  }

  /// Gives a field the kind that it has in another description, in which it has the same place.
  mutating func restoreKind(of path: String, from other: CollectionDescription) {
    guard documentTable == other.documentTable,
      let (table, slot) = other.place(of: path[...], in: documentTable)
    else { return }
    tables[table][slot].kind = other.tables[table][slot].kind
  }

  /// Where the field is that a path leads to.
  private func place(of path: Substring, in table: Int) -> (table: Int, slot: Int)? {
    for (slot, field) in tables[table].fields.enumerated() where path.hasPrefix(field.name) {
      let rest = path.dropFirst(field.name.count)
      if rest.isEmpty { return (table, slot) }
      guard rest.hasPrefix(".") else { continue }
      for inner in Self.references(field.kind) {
        if let found = place(of: rest.dropFirst(), in: inner) { return found }
      }
    }
    return nil
  }

  /// The tables of the documents that a field of some kind holds.
  private static func references(_ kind: Kind<Int>) -> [Int] {
    var found: [Int] = []
    _ = kind.mapReferences { (table: Int) -> Int in
      found.append(table)
      return table
    }
    return found
  }

  /// Gives a collection without documents another key, and a table without fields.
  mutating func beginAnew(keyKind: KeyKind, keyField: String?) {
    (self.keyKind, self.keyField) = (keyKind, keyField)
    tables.append(FieldTable())
    documentTable = tables.count - 1
  }

  /// Fields in one table, and tables: both have numbers of 16 bits.
  static let maximumCount = 65_536

  private func checkLimits() throws(StoreError) {
    // Objects that are dictionaries in truth, inferred as documents, come here.
    let crowded = tables.first { $0.fields.count > Self.maximumCount }
    guard tables.count > Self.maximumCount || crowded != nil else { return }
    throw .valueRefused(
      collection: name, key: "", field: (crowded ?? tables[0]).fields.last?.name ?? "",
      found: crowded.map { "\($0.fields.count) fields" } ?? "\(tables.count) kinds of documents",
      expected: "at most \(Self.maximumCount) fields in an object, and as many kinds of objects; "
        + "declare an object whose names are data as a dictionary")
  }
}

/// Something that says which fields a document has: a schema, or values that were looked at.
protocol DocumentShape: Hashable, Sendable {
  var fields: [ShapeField<Self>] { get }
  /// Where two places with one identity share a field table; nil where each has its own.
  var identity: ObjectIdentifier? { get }
  /// Whether kinds come from a Swift type and not from values.
  static var isDeclared: Bool { get }
  /// Whether a field that takes any value takes the documents too, as dictionaries.
  static var fitsAny: Bool { get }
}

extension DocumentShape {
  static var fitsAny: Bool { false }
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
  /// The one table that records of each type are written with.
  private var tables: [ObjectIdentifier: Int] = [:]
  /// Where this walk has been: a type that contains itself ends here.
  private var visits: Set<Visit> = []

  private struct Visit: Hashable {
    let type: ObjectIdentifier
    let table: Int
  }

  init(description: CollectionDescription, root: Shape) {
    self.description = description
    findTables(of: root, at: description.documentTable)
  }

  mutating func merge(_ shape: Shape, into table: Int, path: [String]) throws(StoreError) {
    if let type = shape.identity {
      guard visits.insert(Visit(type: type, table: table)).inserted else { return }
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
        stored.isDeclared = !stored.kind.isOpen
      }
      description.tables[table][slot] = stored
    }
    if Shape.isDeclared { weaken(table, besides: shape) }
  }

  /// Fields that the type lacks are no longer required of untyped documents: the type's own lack them, too.
  private mutating func weaken(_ table: Int, besides shape: Shape) {
    let names = Set(shape.fields.map(\.name))
    for (slot, field) in description.tables[table].fields.enumerated()
    where field.isRequired && !names.contains(field.name) {
      description.tables[table][slot].isRequired = false
    }
  }

  /// The kind as the catalogue keeps it, with new tables for the documents in it.
  mutating func newKind(
    _ kind: Kind<Shape>, path: [String]
  ) throws(StoreError) -> Kind<Int> {
    var kindError: StoreError?
    let result = kind.mapReferences { shape in
      if let identity = shape.identity, let table = tables[identity] { return table }
      let table = description.tables.count
      description.tables.append(FieldTable())
      if let identity = shape.identity { tables[identity] = table }
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
    do throws(StoreError) {
      return try joinedParts(stored, declared, isFirst: isFirst, path: path)
    } catch .kindMismatch(let collection, path.joined(separator: "."), _, _) {
      // The kinds of the whole field, and not those of its elements.
      throw .kindMismatch(
        collection: collection, field: path.joined(separator: "."), stored: "\(stored)",
        declared: "\(declared)")
    }
  }

  private mutating func joinedParts(
    _ stored: Kind<Int>, _ declared: Kind<Shape>, isFirst: Bool, path: [String]
  ) throws(StoreError) -> Kind<Int> {
    switch (stored, declared) {
    case (.null, _): return try newKind(declared, path: path)
    case (_, .null): return stored
    // Records of documents name a table, and a field of any kind has none.
    case (.any, _) where Shape.fitsAny || !declared.holdsDocuments, (_, .any): return .any
    case _ where !stored.isNestedLike(declared):
      // Records mark the levels of a nested optional; those of another type are unreadable.
      break
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
      return .document(try sharedTable(of: shape, storedIn: table, path: path))
    case (.integer(let first), .integer(let second))
    where !Shape.isDeclared && first.joined(with: second) == nil:
      return .double
    default: break
    }
    if let kind = Kind<Int>.widened(stored, declared.withoutReferences) { return kind }
    throw .kindMismatch(
      collection: description.name, field: path.joined(separator: "."), stored: "\(stored)",
      declared: "\(declared)")
  }

  /// The table of a type whose documents in this place were written with `table` until now.
  ///
  /// Fields in two places may have been inferred apart before a type was declared for both. Old
  /// records keep the table that they name; its fields are added to the shared one, so that
  /// those which the type does not know can move there with the next save.
  private mutating func sharedTable(
    of shape: Shape, storedIn table: Int, path: [String]
  ) throws(StoreError) -> Int {
    try merge(shape, into: table, path: path)
    guard let type = shape.identity, let shared = tables[type], shared != table else {
      return table
    }
    try merge(shape, into: shared, path: path)
    for var field in description.tables[table].fields
    where description.tables[shared].slot(of: field.name) == nil {
      field.isRequired = false
      description.tables[shared].append(field)
    }
    return shared
  }

  /// Finds the tables that types have already, before a field that is new asks for one.
  private mutating func findTables(of shape: Shape, at table: Int) {
    guard let type = shape.identity, tables[type] == nil else { return }
    tables[type] = table
    for field in shape.fields {
      guard let stored = description.tables[table].field(named: field.name) else { continue }
      findTables(in: field.kind, storedAs: stored.kind)
    }
  }

  private mutating func findTables(in kind: Kind<Shape>, storedAs stored: Kind<Int>) {
    switch (kind, stored.unwrapped) {
    case (.optional(let kind), let stored): findTables(in: kind, storedAs: stored)
    case (.document(let shape), .document(let table)): findTables(of: shape, at: table)
    case (.array(let kind), .array(let stored)), (.set(let kind), .set(let stored)),
      (.set(let kind), .array(let stored)):
      findTables(in: kind, storedAs: stored)
    case (.dictionary(let key, let value), .dictionary(let storedKey, let storedValue)):
      findTables(in: key, storedAs: storedKey)
      findTables(in: value, storedAs: storedValue)
    default: break
    }
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
    case (.dictionary(_, let kind), .dictionary(_, let stored)):
      try addFields(of: kind, to: stored, path: path)
    case (.document(let shape), .dictionary(_, let stored)):
      // JSON has one notation for both.
      for field in shape.fields { try addFields(of: field.kind, to: stored, path: path) }
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
  /// Whether two kinds are optionals of the same nesting, where one of them is nested.
  fileprivate func isNestedLike<Other>(_ other: Kind<Other>) -> Bool {
    let (levels, otherLevels) = (optionalLevels, other.optionalLevels)
    return levels == otherLevels || max(levels, otherLevels) < 2 || unwrapped == .null
      || other.unwrapped == .null
  }

  private var optionalLevels: Int {
    if case .optional(let inner) = self { inner.optionalLevels + 1 } else { 0 }
  }

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
