// Properties of values inside documents of plain `Codable` types, which have no schema: they are
// computed from the decoded document.

extension QueryField {
  /// A property of a value inside the document: `$0.geo.lat`.
  @_disfavoredOverload
  public subscript<Model, Inner>(
    dynamicMember inner: any KeyPath<Value, Inner> & Sendable
  ) -> QueryField<Entity, Inner> where Entity == CodableDocument<Model> {
    map(stored: nil) { $0[keyPath: inner] }
  }

  /// A property of a value that may be nil; it then is nil too.
  public subscript<Model, Wrapped, Inner>(
    dynamicMember inner: any KeyPath<Wrapped, Inner> & Sendable
  ) -> QueryField<Entity, Inner?> where Entity == CodableDocument<Model>, Value == Wrapped? {
    map(stored: nil) { $0?[keyPath: inner] }
  }

  /// A property that may be nil, of a value that may be nil: one optional, as with Swift's `?.`.
  public subscript<Model, Wrapped, Inner>(
    dynamicMember inner: any KeyPath<Wrapped, Inner?> & Sendable
  ) -> QueryField<Entity, Inner?> where Entity == CodableDocument<Model>, Value == Wrapped? {
    map(stored: nil) { $0.flatMap { $0[keyPath: inner] } }
  }
}
