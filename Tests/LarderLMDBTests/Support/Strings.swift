import LarderLMDB

/// Keys and values as strings, so that tests read as sentences.
extension Transaction where Self: ~Copyable {
  func value(_ key: String, in database: Database = .main) throws -> String? {
    try withBytes(key) { key in
      try withValue(for: key, in: database) { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// All records, through a cursor.
  func records(in database: Database = .main) throws -> [String] {
    try withCursor(in: database) { cursor in
      var records: [String] = []
      while try cursor.next() { records.append(cursor.record) }
      return records
    }
  }
}

extension WriteTransaction {
  mutating func put(_ value: String, _ key: String, in database: Database = .main) throws {
    try withBytes(key) { key in
      try withBytes(value) { value in try put(value, for: key, in: database) }
    }
  }

  mutating func delete(_ key: String, in database: Database = .main) throws -> Bool {
    try withBytes(key) { try delete($0, in: database) }
  }
}

extension Cursor {
  /// The record it stands on as `key=value`, empty when it stands on none.
  var record: String {
    guard !key.isEmpty else { return "" }
    return String(decoding: key, as: UTF8.self) + "=" + String(decoding: value, as: UTF8.self)
  }

  mutating func seek(_ key: String) throws -> Bool {
    try withBytes(key) { try seek($0) }
  }

  mutating func seek(atOrAfter key: String) throws -> Bool {
    try withBytes(key) { try seek(atOrAfter: $0) }
  }

  mutating func put(_ value: String, _ key: String, _ mode: PutMode = .upsert) throws {
    try withBytes(key) { key in try withBytes(value) { try put($0, for: key, mode) } }
  }
}

extension Environment {
  /// One write transaction with these records, committed.
  func store(_ records: [String: String], in database: Database = .main) throws {
    var transaction = try beginWrite()
    for (key, value) in records { try transaction.put(value, key, in: database) }
    try transaction.commit()
  }

  func read(_ key: String, in database: Database = .main) throws -> String? {
    try beginRead().value(key, in: database)
  }
}

func withBytes<Result>(
  _ text: String, _ body: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
  try Array(text.utf8).withUnsafeBytes(body)
}

/// The code of the LMDB error that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) -> LMDBError.Code? {
  failure(body)?.code
}

func failure(_ body: () throws -> Void) -> LMDBError? {
  do {
    try body()
    return nil
  } catch {
    return error as? LMDBError
  }
}
