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
  /// The database of the migrations; nil where nothing was ever migrated.
  func migrations() throws -> Database? {
    try environment.database(named: Layout.migrationsName, create: false)
  }

  /// The same, made where there is none.
  func madeMigrations() throws -> Database { try madeDatabase(named: Layout.migrationsName) }

  /// The same inside a write, where no handle can be opened: one that exists has been opened with
  /// the catalogue.
  var knownMigrations: Database? { environment.knownDatabase(named: Layout.migrationsName) }
}
