internal import LarderLMDB

/// A transaction and the catalogue that goes with it, lent by a snapshot or a write.
@_documentation(visibility: internal)
public struct Moment: ~Copyable {
  let transaction: LentTransaction
  // Guard: the snapshot or the write, which outlives this, holds it. Threads that count references to
  // one catalogue would wait for each other. To be had by saying what is going to be read of it.
  private unowned(unsafe) let catalogue: Catalogue
  /// Where it is noted what is read; nil where nobody wants to know. Whoever wants to know holds it.
  private let notes: Unmanaged<ReadNotes>?

  init(
    _ transaction: borrowing some Transaction & ~Copyable, _ catalogue: Catalogue,
    noting notes: Unmanaged<ReadNotes>? = nil
  ) {
    self.transaction = LentTransaction(transaction)
    self.catalogue = catalogue
    self.notes = notes
  }
}

// MARK: What is read

extension Moment {
  /// The binding of a type of which all that a filter matches is going to be read; nil where its
  /// collection does not exist.
  ///
  /// - Throws: As ``Catalogue/binding(of:)``.
  borrowing func binding<Entity: Document>(
    of type: Entity.Type, matching filter: @autoclosure () -> FilterNode
  ) throws -> CollectionBinding? {
    notes?._withUnsafeGuaranteedRef {
      $0.note(type, in: Entity.schema.name, matching: filter()) { try $0.binding(of: type) }
    }
    return try catalogue.binding(of: type)
  }

  /// The binding of a type of which the document under a key is going to be read.
  ///
  /// - Throws: As ``Catalogue/binding(of:)``.
  borrowing func binding<Entity: Document>(
    of type: Entity.Type, key: Entity.Key
  ) throws -> CollectionBinding? {
    if let notes {
      key.withEncodedKey { key in
        notes._withUnsafeGuaranteedRef {
          $0.note(type, in: Entity.schema.name, key: key) { try $0.binding(of: type) }
        }
      }
    }
    return try catalogue.binding(of: type)
  }

  /// The binding of models of which all that a filter matches is going to be read.
  ///
  /// - Throws: As ``Catalogue/binding(of:)``.
  borrowing func binding<Model, Entity>(
    of form: ModelForm<Model, Entity>, matching filter: @autoclosure () -> FilterNode
  ) throws -> CollectionBinding? {
    notes?._withUnsafeGuaranteedRef {
      $0.note(Entity.self, in: form.collection, matching: filter()) { try form.binding($0) }
    }
    return try form.binding(catalogue)
  }

  /// The binding of models of which those under some keys are going to be read.
  ///
  /// - Throws: As ``Catalogue/binding(of:)``.
  borrowing func lastingBinding<Model, Entity>(
    of form: ModelForm<Model, Entity>, keys: some Sequence<Entity.Key>
  ) throws -> Unmanaged<CollectionBinding>? {
    if let notes {
      for key in keys {
        key.withEncodedKey { key in
          notes._withUnsafeGuaranteedRef {
            $0.note(Entity.self, in: form.collection, key: key) { try form.binding($0) }
          }
        }
      }
    }
    return try form.lastingBinding(catalogue)
  }
}
