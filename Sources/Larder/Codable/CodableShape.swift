/// The fields of a `Codable` type, as the values that were encoded show them.
struct CodableShape: DocumentShape {
  let place: Place
  private let documents: Documents

  /// What documents share a field table.
  indirect enum Place: Hashable, Sendable {
    case type(ObjectIdentifier)
    /// A container that a type asked for itself, under this name.
    case inside(Place, String)
  }

  struct Field: Sendable {
    let name: String
    var kind: Kind<Place>
    var isRequired = false
  }

  final class Documents: Sendable {
    let fields: [Place: [Field]]
    init(_ fields: [Place: [Field]]) { self.fields = fields }
  }

  init(_ place: Place, in documents: Documents) {
    self.place = place
    self.documents = documents
  }

  var fields: [ShapeField<CodableShape>] {
    (documents.fields[place] ?? []).map { field in
      ShapeField(
        name: field.name, kind: field.kind.mapReferences { CodableShape($0, in: documents) },
        isRequired: field.isRequired)
    }
  }

  var identity: ObjectIdentifier? {
    if case .type(let type) = place { type } else { nil }
  }

  static var isDeclared: Bool { true }

  static func == (left: Self, right: Self) -> Bool { left.place == right.place }
  func hash(into hasher: inout Hasher) { hasher.combine(place) }
}

/// Takes in what values encode, until all that they need is known.
struct CodableShapes: Sendable {
  private let root: CodableShape.Place
  private(set) var fields: [CodableShape.Place: [CodableShape.Field]] = [:]
  /// Two kinds in one field; the first of them.
  private(set) var conflict: (field: String, stored: String, declared: String)?

  init(of type: Any.Type) { root = .type(ObjectIdentifier(type)) }

  var shape: CodableShape { CodableShape(root, in: CodableShape.Documents(fields)) }

  /// Takes what the collection has already: a field that takes any value takes documents as
  /// dictionaries.
  mutating func adapt(to collection: CollectionDescription) {
    var seen: Set<CodableShape.Place> = []
    adapt(root, to: collection.fields, collection, &seen)
  }

  private mutating func adapt(
    _ place: CodableShape.Place, to table: FieldTable, _ collection: CollectionDescription,
    _ seen: inout Set<CodableShape.Place>
  ) {
    guard seen.insert(place).inserted, let found = fields[place] else { return }
    for (index, field) in found.enumerated() {
      guard let stored = table.field(named: field.name)?.kind else { continue }
      let kind = adapted(field.kind, to: stored, collection, &seen)
      fields[place]?[index].kind = kind
    }
  }

  private mutating func adapted(
    _ kind: FieldKind, to stored: Kind<Int>, _ collection: CollectionDescription,
    _ seen: inout Set<CodableShape.Place>
  ) -> FieldKind {
    switch (kind, stored) {
    case (_, .any): return .any
    case (.optional(let kind), .optional(let stored)):
      return .optional(adapted(kind, to: stored, collection, &seen))
    case (.optional(let kind), _):
      return .optional(adapted(kind, to: stored, collection, &seen))
    case (_, .optional(let stored)): return adapted(kind, to: stored, collection, &seen)
    case (.array(let kind), .array(let stored)):
      return .array(adapted(kind, to: stored, collection, &seen))
    case (.set(let kind), .set(let stored)):
      return .set(adapted(kind, to: stored, collection, &seen))
    case (.dictionary(let key, let kind), .dictionary(let storedKey, let stored)):
      return .dictionary(
        adapted(key, to: storedKey, collection, &seen),
        adapted(kind, to: stored, collection, &seen))
    case (.document(let place), .document(let table)):
      adapt(place, to: collection.tables[table], collection, &seen)
      return kind
    default: return kind
    }
  }

  mutating func setRequired(_ name: String) {
    guard let index = fields[root]?.firstIndex(where: { $0.name == name }) else { return }
    fields[root]?[index].isRequired = true
  }

  /// Takes in the value that `output` has encoded while it was declaring.
  mutating func add(_ output: CodableOutput) {
    let node = Int(output.state.pointee.entries[CodableOutput.root].node)
    if node >= 0 { addFields(of: node, root, [], output) }
  }

  private mutating func addFields(
    of node: Int, _ place: CodableShape.Place, _ path: [String], _ output: CodableOutput
  ) {
    if fields[place] == nil { fields[place] = [] }
    output.forEachEntry(of: node) { entry in
      let name = output.text(ofKey: entry)
      let path = path + [name]
      let kind = kind(of: entry, .inside(place, name), path, output)
      if let index = fields[place]?.firstIndex(where: { $0.name == name }) {
        let joined = join(fields[place]?[index].kind ?? .null, kind, path)
        fields[place]?[index].kind = joined
      } else {
        fields[place]?.append(CodableShape.Field(name: name, kind: kind))
      }
    }
  }
}

// MARK: Kinds

extension CodableShapes {
  typealias FieldKind = Kind<CodableShape.Place>

  private mutating func kind(
    of entry: Int, _ place: CodableShape.Place, _ path: [String], _ output: CodableOutput
  ) -> FieldKind {
    let type = output.state.pointee.entries[entry].type
    let kind = kind(of: entry, as: type.traits?.pointee.type, place, path, output)
    if type.isOptional { return .optional(kind) }
    return kind
  }

  /// - Parameters:
  ///   - type: What the value was encoded as; nil for a container that was asked for by itself.
  ///   - place: Where it is.
  private mutating func kind(
    of entry: Int, as type: Any.Type?, _ place: CodableShape.Place, _ path: [String],
    _ output: CodableOutput
  ) -> FieldKind {
    let known = type.map { Kind<Int>(coding: $0) } ?? .null
    let state = output.state.pointee.entries[entry]
    // All there is to know, or nothing to learn from.
    if state.isAbsent || isNative(type) { return known.mapReferences { _ in place } }
    let node = Int(state.node)
    if node < 0 {
      if isNil(entry, output) {
        return known.isOptional ? known.mapReferences { _ in place } : .optional(.null)
      }
      return .any
    }
    let isKeyed = output.state.pointee.nodes[node].keys != nil
    let element = (type as? any CodedContainer.Type)?.elementType
    switch known {
    case .optional where output.state.pointee.nodes[node].isOptionalLevel,
      .array where !isKeyed, .set where !isKeyed:
      var kind = FieldKind.null
      if let element { kind = Kind<Int>(coding: element).mapReferences { _ in place } }
      output.forEachEntry(of: node) { entry in
        kind = join(kind, self.kind(of: entry, as: element, place, path, output), path)
      }
      if case .optional = known { return .optional(kind) }
      if case .set = known { return .set(kind) }
      return .array(kind)
    case .optional:
      return .optional(kind(of: entry, as: element, place, path, output))
    case .dictionary(let key, _):
      return dictionary(of: node, key, element, place, path, output)
    default:
      guard let keys = output.state.pointee.nodes[node].keys, !keys.pointee.takesAnyName else {
        return .any
      }
      let place = type.map { .type(ObjectIdentifier($0)) } ?? place
      addFields(of: node, place, path, output)
      return .document(place)
    }
  }

  private mutating func dictionary(
    of node: Int, _ key: Kind<Int>, _ valueType: Any.Type?, _ place: CodableShape.Place,
    _ path: [String], _ output: CodableOutput
  ) -> FieldKind {
    var keyKind: FieldKind = key.mapReferences { _ in place }
    var valueKind = FieldKind.null
    if let valueType { valueKind = Kind<Int>(coding: valueType).mapReferences { _ in place } }
    let isKeyed = output.state.pointee.nodes[node].keys != nil
    if isKeyed, keyKind == .null { keyKind = .string }
    var isKey = !isKeyed
    output.forEachEntry(of: node) { entry in
      if isKey {
        let type = output.state.pointee.entries[entry].type.traits?.pointee.type
        keyKind = join(keyKind, kind(of: entry, as: type, place, path, output), path)
      } else {
        valueKind = join(valueKind, kind(of: entry, as: valueType, place, path, output), path)
      }
      if !isKeyed { isKey.toggle() }
    }
    return .dictionary(keyKind, valueKind)
  }

  private func isNative(_ type: Any.Type?) -> Bool {
    type.map { CodingTraits.of($0).pointee.native != nil } ?? false
  }

  private func isNil(_ entry: Int, _ output: CodableOutput) -> Bool {
    let state = output.state.pointee.entries[entry]
    guard state.end > state.start else { return false }
    return output.state.pointee.bytes.base.load(fromByteOffset: state.start, as: UInt8.self)
      == 0xC0
  }

  /// The kind that holds values of both.
  private mutating func join(
    _ first: FieldKind, _ second: FieldKind, _ path: [String]
  ) -> FieldKind {
    switch (first, second) {
    case _ where first == second: return first
    case (.null, _): return second
    case (_, .null): return first
    case (.any, _), (_, .any): return .any
    case (.optional(let first), .optional(let second)):
      return .optional(join(first, second, path))
    case (.optional(let first), _): return .optional(join(first, second, path))
    case (_, .optional(let second)): return .optional(join(first, second, path))
    case (.array(let first), .array(let second)): return .array(join(first, second, path))
    case (.set(let first), .set(let second)): return .set(join(first, second, path))
    case (.dictionary(let firstKey, let first), .dictionary(let secondKey, let second)):
      return .dictionary(join(firstKey, secondKey, path), join(first, second, path))
    default:
      if let stored = first.withoutReferences,
        let kind = Kind<Int>.widened(stored, second.withoutReferences)
      {
        return kind.mapReferences { _ in root }
      }
      let clash = (path.joined(separator: "."), "\(first)", "\(second)")
      if conflict == nil { conflict = clash }
      return first
    }
  }
}
