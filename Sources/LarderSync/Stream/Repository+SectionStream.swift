public import Larder

extension Repository where Model == Entity {
  /// What `query` selects, in sections by a field, each time that it has changed, while `updater`
  /// refreshes it.
  ///
  /// ```swift
  /// let cities = contacts.stream(sections: Contact.all.sorted(by: \.name), by: \.city)
  /// ```
  /// Sections as of `watch(sections:by:ignoring:)`, and a stream as ``stream(_:refreshedBy:timing:ignoring:)``.
  public func stream<Key: Comparand & Comparable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key> & Sendable,
    refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<Rows<RowSection<Key, Model>>> {
    EventStream(
      watch(sections: query, by: path, ignoring: ignored), refreshedBy: updater, timing: timing)
  }

  /// What `query` selects, in sections by a field that may be nil, which comes first.
  ///
  /// As the other one.
  public func stream<Key: Comparand & Comparable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key?> & Sendable,
    refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<Rows<RowSection<Key?, Model>>> {
    EventStream(
      watch(sections: query, by: path, ignoring: ignored), refreshedBy: updater, timing: timing)
  }

  /// What `query` selects, in sections by an enum, in its own order.
  ///
  /// As the other ones.
  public func stream<Key: RawRepresentable & Comparable & CaseIterable & Sendable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key> & Sendable,
    refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<Rows<RowSection<Key, Model>>> where Key.RawValue: Comparand {
    EventStream(
      watch(sections: query, by: path, ignoring: ignored), refreshedBy: updater, timing: timing)
  }

  /// What `query` selects, in sections by an enum that may be nil, which comes first.
  ///
  /// As the other ones.
  public func stream<Key: RawRepresentable & Comparable & CaseIterable & Sendable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key?> & Sendable,
    refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<Rows<RowSection<Key?, Model>>> where Key.RawValue: Comparand {
    EventStream(
      watch(sections: query, by: path, ignoring: ignored), refreshedBy: updater, timing: timing)
  }
}

extension Repository {
  /// What `query` selects, cut into sections wherever a value changes from one row to the next.
  ///
  /// Sections as of `watch(sections:splitBy:ignoring:)`, and a stream as
  /// ``stream(_:refreshedBy:timing:ignoring:)``.
  public func stream<Key: Equatable & Sendable>(
    sections query: Query<Entity>, splitBy key: @escaping @Sendable (Model) -> Key,
    refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<Rows<RowSection<Key, Model>>> {
    EventStream(
      watch(sections: query, splitBy: key, ignoring: ignored), refreshedBy: updater, timing: timing)
  }
}
