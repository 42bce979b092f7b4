#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where an order has the documents whose field is nil.
public enum NilPlacement: Sendable, Hashable {
  case first, last
}

extension Query {
  /// Sorted by a field, behind the fields that it is sorted by already: `\.name`, `\.geo.lat`,
  /// `\.tags.count`. Nil comes first and NaN last; `.reverse` turns both round.
  public func sorted<Value: Comparand & Comparable>(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>, _ order: SortOrder = .forward
  ) -> Self {
    adding(Fields()[keyPath: path].sortKeys(order))
  }

  /// Sorted by a field that may be nil, behind the fields that it is sorted by already.
  ///
  /// - Parameter nils: Where documents without a value come, in either direction. No index has an
  ///   order with nil elsewhere than where it comes by itself: first, or last in reverse.
  public func sorted<Value: Comparand & Comparable>(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>, _ order: SortOrder = .forward,
    nils: NilPlacement? = nil
  ) -> Self {
    adding(Fields()[keyPath: path].sortKeys(order, nils))
  }

  /// Sorted by a field that is false or true, false first.
  public func sorted(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Bool>>, _ order: SortOrder = .forward
  ) -> Self {
    adding(Fields()[keyPath: path].sortKeys(order))
  }

  /// Sorted by a field that is nil, false or true, in this order if `nils` does not say otherwise.
  public func sorted(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Bool?>>, _ order: SortOrder = .forward,
    nils: NilPlacement? = nil
  ) -> Self {
    adding(Fields()[keyPath: path].sortKeys(order, nils))
  }

  /// Sorted by an enum, in its own order. Where that is the order of the raw values an index on the
  /// field has it too.
  ///
  /// Of values that `allCases` leaves out two are told apart only if one that it has stands between them.
  public func sorted<Value: RawRepresentable & Comparable & CaseIterable & Sendable>(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>, _ order: SortOrder = .forward
  ) -> Self where Value.RawValue: Comparand {
    adding([Fields()[keyPath: path].enumSortKey(isReversed: order == .reverse)])
  }

  /// Sorted by an enum that may be nil, in its own order, as one that may not be.
  public func sorted<Value: RawRepresentable & Comparable & CaseIterable & Sendable>(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>, _ order: SortOrder = .forward,
    nils: NilPlacement? = nil
  ) -> Self where Value.RawValue: Comparand {
    let field = Fields()[keyPath: path]
    let key: SortKey = field.enumSortKey(isReversed: order == .reverse)
    return adding(field.nilKeys(order, nils) + [key])
  }

  fileprivate func adding(_ keys: [SortKey]) -> Self {
    var query = self
    if query.selection.hasDefaultOrder {
      query.selection.order = []
      query.selection.hasDefaultOrder = false
    }
    query.selection.order += keys
    return query
  }
}

// MARK: By key paths of the document type

extension Query {
  /// Sorted by what a key path of the document type leads to, behind the fields that it is sorted
  /// by already. A path that goes through `?.` is read from decoded documents; `\.geo.lat`, which
  /// names the fields of an optional document without it, is not.
  @_disfavoredOverload
  public func sorted<Value: Comparand & Comparable>(
    by path: any KeyPath<Entity, Value> & Sendable, _ order: SortOrder = .forward
  ) -> Self {
    adding(QueryField<Entity, Value>(path).sortKeys(order))
  }

  /// Sorted by what a key path of the document type leads to, which may be nil.
  @_disfavoredOverload
  public func sorted<Value: Comparand & Comparable>(
    by path: any KeyPath<Entity, Value?> & Sendable, _ order: SortOrder = .forward,
    nils: NilPlacement? = nil
  ) -> Self {
    adding(QueryField<Entity, Value?>(path).sortKeys(order, nils))
  }
}

// MARK: What to write instead

extension Query {
  @available(*, unavailable, message: "this field is never nil; leave out `nils:`")
  public func sorted<Value: Comparand & Comparable>(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>, _ order: SortOrder = .forward,
    nils: NilPlacement
  ) -> Self {
    fatalError("unavailable")
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      values of this type have no order. Sort by a string, a number, a date, a `Bool` or another \
      `Comparable` scalar, by an enum with a raw value that is declared `Comparable` and \
      `CaseIterable`, or by something about the value, as in `sorted(by: \\.tags.count)`
      """
  )
  public func sorted<Value>(
    by path: KeyPath<Fields<Entity>, QueryField<Entity, Value>>, _ order: SortOrder = .forward,
    nils: NilPlacement? = nil
  ) -> Self {
    fatalError("unavailable")
  }
}

extension QueryField {
  fileprivate func sortKeys(_ order: SortOrder) -> [SortKey] where Value: Comparand {
    [SortKey(operand: operand, isReversed: order == .reverse)]
  }

  fileprivate func sortKeys<Wrapped: Comparand>(
    _ order: SortOrder, _ nils: NilPlacement?
  ) -> [SortKey] where Value == Wrapped? {
    nilKeys(order, nils) + [SortKey(operand: operand, isReversed: order == .reverse)]
  }

  /// The level above a field's own that brings nil elsewhere than it comes by itself.
  fileprivate func nilKeys<Wrapped>(
    _ order: SortOrder, _ nils: NilPlacement?
  ) -> [SortKey] where Value == Wrapped? {
    let natural: NilPlacement = order == .forward ? .first : .last
    guard let nils, nils != natural else { return [] }
    let isNil = map(stored: derived(.isNil)) { $0 == nil }
    return [SortKey(operand: isNil.operand, isReversed: nils == .first)]
  }
}
