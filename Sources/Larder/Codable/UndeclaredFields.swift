enum UndeclaredFields {
  typealias Needed = FieldsNeeded
}

extension Batch {
  /// The batch that `body` makes; nil where the catalogue lacks fields of a `Codable` type.
  @usableFromInline static func unlessUndeclared(_ body: () throws -> Batch) throws -> Batch? {
    do {
      return try body()
    } catch is UndeclaredFields.Needed {
      return nil
    }
  }
}
