internal import LarderLMDB

extension WriteScope {
  /// Writes where `subject` stands; nil forgets it.
  mutating func put(
    _ state: MigrationState?, of subject: MigrationState.Subject, in migrations: Database
  ) throws {
    try subject.key.withUnsafeBytes { key in
      let isNew = try transaction.withValue(for: key, in: migrations) { _ in true } == nil
      if let state {
        try state.encoded(for: subject).withUnsafeBytes { value in
          try transaction.put(value, for: key, in: migrations)
        }
      } else {
        _ = try transaction.delete(key, in: migrations)
      }
      // Other processes take this for a reason to look for databases that they do not know.
      if isNew { renewCatalogue() }
    }
    hasWrittenMore = true
  }
}

extension Engine {
  /// The database of the migrations, made where there is none.
  func madeMigrations() throws -> Database { try madeDatabase(named: Layout.migrationsName) }
}
