/// What a document must be to be deleted: not for what was said of it, but for what it is.
///
/// An index entry that is whole may still be an old one, of a write that never reached the disk. A query
/// that reads it gives back a document that can be looked at; what is deleted is gone.
struct Evidence {
  private let filter: Evaluation
  private let binding: CollectionBinding
  /// The index by which the documents were found; nil where they were asked then.
  private let witness: CollectionIndex?

  init(_ filter: FilterNode, _ binding: CollectionBinding, witness: CollectionIndex?) {
    self.filter = witness == nil ? .everything : Evaluation(filter, in: binding.collection)
    self.binding = binding
    self.witness = witness
  }

  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``; where the filter does not hold,
  ///   ``StoreError/damagedIndex(collection:index:reason:)``.
  func check(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
    try binding.reading(record, key: key) { _ in }
    guard let witness else { return }
    guard try binding.matches(filter, key: key, record: record) else { throw witness.otherDocument }
  }
}
