internal import LarderLMDB

/// Stands for the elements of an array in conditions on documents of type `Outer`, so that the
/// fields of one element and those of its document cannot be mixed up.
public enum ElementOf<Outer> {}

/// An array or a set, or an optional one, as a field has it.
@_documentation(visibility: internal)
public protocol FieldElements {
  associatedtype Elements: Sequence
  /// The elements; nil where the field is nil.
  var _elements: Elements? { get }
}

extension Array: FieldElements { public var _elements: Self? { self } }
extension Set: FieldElements { public var _elements: Self? { self } }

extension Optional: FieldElements where Wrapped: FieldElements, Wrapped.Elements == Wrapped {
  public var _elements: Wrapped? { self }
}

/// Of an optional array or set no condition holds where it is nil.
extension QueryField
where Value: FieldElements & SendableMetatype, Value.Elements: SendableMetatype {
  /// The type of the elements.
  public typealias Element = Value.Elements.Element

  /// Whether the array or set has this element.
  public func contains(_ element: Element) -> Filter<Entity> where Element: Comparand {
    contains(Larder.Value(storing: element), Larder.Value.init(storing:))
  }

  /// Whether the array or set has an element with the raw value of this one, whatever its own `==` says.
  public func contains(_ element: Element) -> Filter<Entity>
  where Element: RawRepresentable & Equatable & Sendable, Element.RawValue: Comparand {
    contains(Larder.Value(storing: element.rawValue)) { Larder.Value(storing: $0.rawValue) }
  }

  private func contains(
    _ element: Larder.Value, _ stored: @escaping @Sendable (Element) -> Larder.Value
  ) -> Filter<Entity> {
    filter(operand { .array($0._elements?.map(stored) ?? []) }, .containsElement(element))
  }

  /// Whether the array or set has one of `elements`, or more.
  public func containsAny(of elements: some Sequence<Element>) -> Filter<Entity>
  where Element: Comparand {
    Filter(node: .any(tests(of: elements)), depth: 2)
  }

  /// Whether the array or set has each of `elements`.
  public func containsAll(of elements: some Sequence<Element>) -> Filter<Entity>
  where Element: Comparand {
    whereThere(Filter<Entity>(node: .all(tests(of: elements)), depth: 2))
  }

  private func tests(of elements: some Sequence<Element>) -> [FilterNode]
  where Element: Comparand {
    elements.map { Larder.Value(storing: $0) }.inOwnOrder
      .map { contains($0, Larder.Value.init(storing:)).node }
  }

  /// Whether the condition holds for an element of the array or set: `$0.tags.contains {
  /// $0.hasPrefix("a") }`, `$0.places.contains { $0.lat > 60 }`.
  ///
  /// The closure names the fields of one element; those of the document are not in its reach.
  public func contains(
    where condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Element: Storable & Sendable {
    contains(condition(.element))
  }

  /// Whether the array or set has an element with a `Bool` that is true: `$0.seats.contains { $0.isFree }`.
  public func contains(
    where condition: (QueryField<ElementOf<Entity>, Element>) -> QueryField<
      ElementOf<Entity>, Bool
    >
  ) -> Filter<Entity> where Element: Storable & Sendable {
    contains(condition(.element) == true)
  }

  /// Whether a `Bool` of each element of the array or set is true.
  public func allSatisfy(
    _ condition: (QueryField<ElementOf<Entity>, Element>) -> QueryField<ElementOf<Entity>, Bool>
  ) -> Filter<Entity> where Element: Storable & Sendable {
    allSatisfy { condition($0) == true }
  }

  /// Whether the condition holds for each element of the array or set.
  public func allSatisfy(
    _ condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Element: Storable & Sendable {
    whereThere(!contains { !condition($0) })
  }

  /// A condition that does not hold where the array or set is nil.
  private func whereThere(_ condition: Filter<Entity>) -> Filter<Entity> {
    if Value.self == Value.Elements.self { return condition }
    return !filter(operand { $0._elements == nil ? .null : .bool(true) }, .equal(.null))
      && condition
  }

  private func contains(
    _ condition: Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Element: Storable & Sendable {
    if let storedPath { return condition.onElements(of: .field(storedPath)) }
    let read = read
    let filter = FilterProgram(condition.node, in: nil)
    let binding = Solitary<Element>.binding()
    let computed = Operand.Computed { (reader) throws(RecordError) in
      guard let elements = try read(reader)._elements else { return .bool(false) }
      return .bool(try filter.holdsForAny(in: elements, binding: try binding.get()))
    }
    return condition.onElements(of: .computed(computed))
  }
}

extension Filter {
  /// A condition on elements, as part of one on their document. Where the elements are computed,
  /// the operand says the outcome itself.
  fileprivate func onElements<Outer>(of operand: Operand) -> Filter<Outer> {
    if node.isTooDeep { return Filter<Outer>(node: .tooDeep, depth: depth + 1) }
    let isComputed = if case .computed = operand { true } else { false }
    return Filter<Outer>(
      node: .test(operand, isComputed ? .equal(.bool(true)) : .containsMatch(node)),
      depth: depth + 1)
  }
}

extension QueryField where Value: Storable & Sendable {
  /// The element that a condition is about.
  static var element: Self {
    QueryField(
      stored: .field([.element(Value._kind)]),
      read: { (reader) throws(RecordError) in
        var reader = reader
        return try Value._load(from: &reader)
      })
  }
}

// MARK: Computed arrays

extension FilterProgram {
  /// Whether it holds for one of the elements of a computed array, which are written for it.
  fileprivate func holdsForAny<Elements: Sequence & SendableMetatype>(
    in elements: Elements, binding: CollectionBinding
  ) throws(RecordError) -> Bool where Elements.Element: Storable {
    for element in elements {
      var writer = RecordWriter(binding: binding, capacity: 128)
      element._store(into: &writer)
      if let failure = writer.failure { throw failure }
      let outcome: Result<Bool, RecordError> = writer.withBytes { bytes in
        guard let start = bytes.baseAddress else { return .success(false) }
        do throws(RecordError) {
          return .success(
            try self.holds(for: ValueReader(start, start + bytes.count, binding: binding, depth: 0))
          )
        } catch {
          return .failure(error)
        }
      }
      if try outcome.get() { return true }
    }
    return false
  }
}

/// A document around a value that is stored nowhere, for the field tables that it needs.
private struct Solitary<Element: Storable & Sendable>: EmbeddedDocument {
  let element: Element

  static var schema: Schema<Self> { Schema("", fields: [Field("$0", \.element)]) }

  func encode(into record: inout RecordWriter) { record.put(element, at: 0) }

  init(from record: borrowing RecordReader) throws(RecordError) { element = try record.get(0) }

  static func binding() -> Result<CollectionBinding, RecordError> {
    var description = CollectionDescription(name: "", keyKind: .string)
    do throws(StoreError) {
      try description.merge(SchemaReference(Self.self))
    } catch {
      return .failure(.invalid("elements cannot be written: \(error)"))
    }
    return .success(
      CollectionBinding(
        ObjectIdentifier(Self.self), schema, in: Collection(description, documents: .main),
        isDeclared: true))
  }
}
