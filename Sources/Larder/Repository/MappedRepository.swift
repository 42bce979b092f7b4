/// Domain models that know nothing of storage, kept in a store as the entities of a mapper.
///
/// Models that are stored already update their entities, which are read inside the transaction, so
/// that fields which the mapper does not touch stay. Entities that have no model are left out of what
/// is read, before offset and limit: each that a filter matches is decoded.
public typealias MappedRepository<Mapper: EntityMapper> =
  StoredRepository<Mapper.Model, Mapper.Entity>

extension Store {
  /// Domain models, by way of the entities that `mapper` makes of them. Costs nothing.
  @inlinable public func repository<Mapper: EntityMapper>(
    of type: Mapper.Entity.Type = Mapper.Entity.self, mappedBy mapper: Mapper
  ) -> MappedRepository<Mapper> {
    MappedRepository<Mapper>(
      store: self, form: .mapped(by: mapper), saver: .mapped(by: mapper),
      key: { mapper.entityAccessorKey($0) })
  }
}
