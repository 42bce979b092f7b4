internal import LarderLMDB

/// Stands for the elements of an array in conditions on documents of type `Outer`, so that the
/// fields of one element and those of its document cannot be mixed up.
public enum ElementOf<Outer> {}

// MARK: One element

extension QueryField {
  /// Whether the array has this element.
  public func contains<Element: Comparand>(
    _ element: Element
  ) -> Filter<Entity> where Value == [Element] {
    contains(Larder.Value(storing: element), { $0 }, Larder.Value.init(storing:))
  }

  /// Whether the set has this element.
  public func contains<Element: Comparand & Hashable>(
    _ element: Element
  ) -> Filter<Entity> where Value == Set<Element> {
    contains(Larder.Value(storing: element), { $0 }, Larder.Value.init(storing:))
  }

  /// Whether the array is there and has this element.
  public func contains<Element: Comparand>(
    _ element: Element
  ) -> Filter<Entity> where Value == [Element]? {
    contains(Larder.Value(storing: element), { $0 }, Larder.Value.init(storing:))
  }

  /// Whether the set is there and has this element.
  public func contains<Element: Comparand & Hashable>(
    _ element: Element
  ) -> Filter<Entity> where Value == Set<Element>? {
    contains(Larder.Value(storing: element), { $0 }, Larder.Value.init(storing:))
  }

  /// Whether the array has an element with this raw value.
  public func contains<Element: RawRepresentable & Equatable & Sendable>(
    _ element: Element
  ) -> Filter<Entity> where Value == [Element], Element.RawValue: Comparand {
    contains(Larder.Value(storing: element.rawValue), { $0 }) { Larder.Value(storing: $0.rawValue) }
  }

  /// Whether the set has an element with this raw value.
  public func contains<Element: RawRepresentable & Hashable & Sendable>(
    _ element: Element
  ) -> Filter<Entity> where Value == Set<Element>, Element.RawValue: Comparand {
    contains(Larder.Value(storing: element.rawValue), { $0 }) { Larder.Value(storing: $0.rawValue) }
  }

  private func contains<Elements: Sequence & SendableMetatype>(
    _ element: Larder.Value, _ elements: @escaping @Sendable (Value) -> Elements?,
    _ stored: @escaping @Sendable (Elements.Element) -> Larder.Value
  ) -> Filter<Entity> {
    filter(operand { .array(elements($0)?.map(stored) ?? []) }, .containsElement(element))
  }
}

// MARK: Several elements

extension QueryField {
  /// Whether the array has one of `elements`, or more.
  public func containsAny<Element: Comparand>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == [Element] {
    any(elements.map { contains($0) })
  }

  /// Whether the set has one of `elements`, or more.
  public func containsAny<Element: Comparand & Hashable>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == Set<Element> {
    any(elements.map { contains($0) })
  }

  /// Whether the array is there and has one of `elements`, or more.
  public func containsAny<Element: Comparand>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == [Element]? {
    any(elements.map { contains($0) })
  }

  /// Whether the set is there and has one of `elements`, or more.
  public func containsAny<Element: Comparand & Hashable>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == Set<Element>? {
    any(elements.map { contains($0) })
  }

  /// Whether the array has each of `elements`.
  public func containsAll<Element: Comparand>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == [Element] {
    all(elements.map { contains($0) })
  }

  /// Whether the set has each of `elements`.
  public func containsAll<Element: Comparand & Hashable>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == Set<Element> {
    all(elements.map { contains($0) })
  }

  /// Whether the array is there and has each of `elements`.
  public func containsAll<Element: Comparand>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == [Element]? {
    !isNil() && all(elements.map { contains($0) })
  }

  /// Whether the set is there and has each of `elements`.
  public func containsAll<Element: Comparand & Hashable>(
    of elements: some Sequence<Element>
  ) -> Filter<Entity> where Value == Set<Element>? {
    !isNil() && all(elements.map { contains($0) })
  }

  private func any(_ filters: [Filter<Entity>]) -> Filter<Entity> {
    Filter(node: .any(filters.map(\.node)), depth: 2)
  }

  private func all(_ filters: [Filter<Entity>]) -> Filter<Entity> {
    Filter(node: .all(filters.map(\.node)), depth: 2)
  }
}

// MARK: Conditions on elements

extension QueryField {
  /// Whether the condition holds for an element of the array: `$0.tags.contains {
  /// $0.hasPrefix("a") }`, `$0.places.contains { $0.lat > 60 }`.
  ///
  /// The closure names the fields of one element; those of the document are not in its reach.
  public func contains<Element: Storable & Sendable>(
    where condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Value == [Element] {
    contains(condition(.element), { $0 })
  }

  /// Whether the condition holds for an element of the set.
  public func contains<Element: Storable & Hashable & Sendable>(
    where condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Value == Set<Element> {
    contains(condition(.element), { $0 })
  }

  /// Whether the array is there and the condition holds for an element of it.
  public func contains<Element: Storable & Sendable>(
    where condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Value == [Element]? {
    contains(condition(.element), { $0 })
  }

  /// Whether the set is there and the condition holds for an element of it.
  public func contains<Element: Storable & Hashable & Sendable>(
    where condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Value == Set<Element>? {
    contains(condition(.element), { $0 })
  }

  /// Whether the condition holds for each element of the array.
  public func allSatisfy<Element: Storable & Sendable>(
    _ condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Value == [Element] {
    !contains { !condition($0) }
  }

  /// Whether the condition holds for each element of the set.
  public func allSatisfy<Element: Storable & Hashable & Sendable>(
    _ condition: (QueryField<ElementOf<Entity>, Element>) -> Filter<ElementOf<Entity>>
  ) -> Filter<Entity> where Value == Set<Element> {
    !contains { !condition($0) }
  }

  private func contains<Elements: Sequence & SendableMetatype>(
    _ condition: Filter<ElementOf<Entity>>, _ elements: @escaping @Sendable (Value) -> Elements?
  ) -> Filter<Entity> where Elements.Element: Storable & Sendable {
    if let storedPath { return condition.onElements(of: .field(storedPath)) }
    let read = read
    let filter = ElementFilter(condition.node)
    let binding = Solitary<Elements.Element>.binding()
    let computed = Operand.Computed { (reader) throws(RecordError) in
      guard let elements = elements(try read(reader)) else { return .bool(false) }
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
      stored: .field([.element(Value.kind)]),
      read: { (reader) throws(RecordError) in
        var reader = reader
        return try Value.load(from: &reader)
      })
  }
}

// MARK: Computed arrays

extension ElementFilter {
  /// Whether it holds for one of the elements of a computed array, which are written for it.
  fileprivate func holdsForAny<Elements: Sequence & SendableMetatype>(
    in elements: Elements, binding: CollectionBinding
  ) throws(RecordError) -> Bool where Elements.Element: Storable {
    for element in elements {
      var writer = RecordWriter(binding: binding, capacity: 128)
      element.store(into: &writer)
      if let failure = writer.failure { throw failure }
      let outcome: Result<Bool, RecordError> = writer.withBytes { bytes in
        guard let start = bytes.baseAddress else { return .success(false) }
        do throws(RecordError) {
          return .success(
            try holds(for: ValueReader(start, start + bytes.count, binding: binding, depth: 0)))
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
