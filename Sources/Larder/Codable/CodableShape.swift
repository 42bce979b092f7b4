/// The fields of a `Codable` type, as the values that were encoded show them.
struct CodableShape: DocumentShape {
  let place: Place
  /// Those of every place.
  fileprivate let known: [Place: [Field]]

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

  var fields: [ShapeField<CodableShape>] {
    (known[place] ?? []).map { field in
      ShapeField(
        name: field.name, kind: field.kind.mapReferences { CodableShape(place: $0, known: known) },
        isRequired: field.isRequired)
    }
  }

  var identity: ObjectIdentifier? {
    if case .type(let type) = place { type } else { nil }
  }

  static var isDeclared: Bool { true }
  static var fitsAny: Bool { true }

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

  var shape: CodableShape { CodableShape(place: root, known: fields) }

  mutating func setRequired(_ name: String) {
    guard let index = fields[root]?.firstIndex(where: { $0.name == name }) else { return }
    fields[root]?[index].isRequired = true
  }

  /// Takes in the value that `output` has encoded.
  mutating func add(_ output: CodableOutput) {
    let node = output.state.pointee.entries[CodableOutput.root].node
    if node >= 0 { addFields(of: node, root, [], output) }
  }

  private mutating func addFields(
    of node: Int, _ place: CodableShape.Place, _ path: [String], _ output: CodableOutput
  ) {
    if fields[place] == nil { fields[place] = [] }
    output.forEachEntry(of: node) { entry in
      let name = output.state.pointee.entries[entry].key
      let path = path + [name]
      var kind = kind(
        of: entry, as: output.state.pointee.entries[entry].type, .inside(place, name), path, output)
      if output.state.pointee.entries[entry].isOptional { kind = .optional(kind) }
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

  /// - Parameters:
  ///   - type: What the value was encoded as; nil for a container that was asked for by itself.
  ///   - place: Where it is.
  private mutating func kind(
    of index: Int, as type: Any.Type?, _ place: CodableShape.Place, _ path: [String],
    _ output: CodableOutput
  ) -> FieldKind {
    let traits = type.map { CodingTraits.of($0) }
    // Types alone say nothing of documents.
    let known = (traits?.kind ?? .null).mapReferences { _ in place }
    let entry = output.state.pointee.entries[index]
    // All there is to know, or nothing to learn from.
    if entry.isAbsent || traits?.native != nil { return known }
    guard entry.node >= 0 else {
      guard !entry.place.isEmpty, output.state.pointee.isNil(index) else { return .any }
      if case .optional = known { return known }
      return .optional(.null)
    }
    let node = output.state.pointee.nodes[entry.node]
    let element = traits?.elementType
    switch known {
    case .optional(let inner) where node.isOptionalLevel:
      return .optional(elements(of: entry.node, inner, element, place, path, output))
    case .optional:
      return .optional(kind(of: index, as: element, place, path, output))
    case .array(let inner) where node.keys == nil:
      return .array(elements(of: entry.node, inner, element, place, path, output))
    case .set(let inner) where node.keys == nil:
      return .set(elements(of: entry.node, inner, element, place, path, output))
    case .dictionary(let key, let value):
      if node.keys != nil {
        let value = elements(of: entry.node, value, element, place, path, output)
        return .dictionary(key == .null ? .string : key, value)
      }
      return .dictionary(
        elements(of: entry.node, key, nil, place, path, output, every: 2),
        elements(of: entry.node, value, element, place, path, output, from: 1, every: 2))
    default:
      guard let keys = node.keys, !keys.takesAnyName else { return .any }
      let place = type.map { .type(ObjectIdentifier($0)) } ?? place
      addFields(of: entry.node, place, path, output)
      return .document(place)
    }
  }

  /// What is known of the kind of a container's elements, joined with what its elements show.
  ///
  /// - Parameter type: What the elements are; nil where each says it.
  private mutating func elements(
    of node: Int, _ known: FieldKind, _ type: Any.Type?, _ place: CodableShape.Place,
    _ path: [String], _ output: CodableOutput, from first: Int = 0, every step: Int = 1
  ) -> FieldKind {
    var (joined, count) = (known, 0)
    output.forEachEntry(of: node) { entry in
      defer { count += 1 }
      guard count % step == first else { return }
      let type = type ?? output.state.pointee.entries[entry].type
      joined = join(joined, kind(of: entry, as: type, place, path, output), path)
    }
    return joined
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
    case (.optional(let first), .optional(let second)), (.optional(let first), let second),
      (let first, .optional(let second)):
      return .optional(join(first, second, path))
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
