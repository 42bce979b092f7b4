/// One document of an import.
package struct JSONDocument: Equatable, Sendable {
  /// The key that a keyed file gives the document; `nil` in the other shapes.
  package var key: String?

  /// The members in file order.
  package var members: [JSONMember]

  /// Where the document's `{` stands.
  package var position: TextPosition
}

/// The documents of a file as trees, one at a time, in whichever ``JSONShape`` it has.
package struct JSONDocuments: ~Copyable, Sendable {
  private var reader: JSONReader

  /// The documents of `source`; nothing is read yet.
  package init(
    _ source: consuming ByteSource, shape: JSONShape = .automatic, at path: [String] = [],
    limits: JSONLimits = JSONLimits()
  ) {
    reader = JSONReader(source, shape: shape, at: path, limits: limits)
  }

  /// The shape of the file; ``JSONShape/automatic`` until the first document is asked for.
  package var shape: JSONShape { reader.shape }

  /// What errors call the source, for errors about what its documents hold.
  package var file: String { reader.file }

  /// How many bytes the source has handed out; for progress.
  package var consumedByteCount: Int { reader.consumedByteCount }

  /// How many bytes the source has in all; `nil` when only the end will tell.
  package var totalByteCount: Int? { reader.totalByteCount }

  /// The next document, or `nil` behind the last when nothing else follows.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read. Documents that were
  ///   given before stay good; every further call throws the same error.
  package mutating func next() throws(ImportError) -> JSONDocument? {
    guard try reader.next() else { return nil }
    return reader.document()
  }
}
