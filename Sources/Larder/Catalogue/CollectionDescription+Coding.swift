// The catalogue's bytes; `Layout` draws them.

extension CollectionDescription {
  private static let version: Int64 = 1
  /// Of a collection that was migrated, or is being migrated.
  private static let versionWithMigrations: Int64 = 2

  /// The description with its checksum.
  func encoded() -> [UInt8] {
    var writer = RecordWriter(binding: .none)
    let isMigrated = documentTable > 0
    let flags = (isLogged ? 0 : 1) | (isSynced ? 2 : 0)
    writer.putArray(count: isMigrated ? 7 : flags == 0 ? 4 : 5)
    writer.put(isMigrated ? Self.versionWithMigrations : Self.version)
    writer.put(Int64(keyKind.rawValue))
    keyField._store(into: &writer)
    writer.putArray(count: tables.count)
    for table in tables {
      writer.putArray(count: table.fields.count)
      for field in table.fields {
        writer.putArray(count: 3)
        writer.put(field.name)
        field.kind.encoded().withUnsafeBytes { writer.put($0) }
        writer.put(Int64((field.isDeclared ? 1 : 0) | (field.isRequired ? 2 : 0)))
      }
    }
    if isMigrated || flags != 0 { writer.put(Int64(flags)) }
    if isMigrated {
      writer.put(Int64(documentTable))
      migratingTo._store(into: &writer)
    }
    let hash = writer.withBytes { Checksum.hash($0, seed: Self.seed(name)) }
    writer.appendInteger(hash.littleEndian)
    return writer.withBytes { [UInt8]($0) }
  }

  /// - Throws: ``StoreError/damagedCatalogue(_:)``.
  init(name: String, _ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    do {
      let count = bytes.count - RecordFormat.checksumByteCount
      guard count > 0, let start = bytes.baseAddress else { throw RecordError.truncated }
      let body = UnsafeRawBufferPointer(rebasing: bytes[..<count])
      let stored = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: count, as: UInt64.self))
      guard Checksum.hash(body, seed: Self.seed(name)) == stored else {
        throw RecordError.checksum
      }
      var reader = ValueReader(start, start + count, binding: .none, depth: 0)
      try self.init(name: name, &reader)
    } catch {
      throw .damagedCatalogue("the description of \(name): \(error)")
    }
  }

  private init(name: String, _ reader: inout ValueReader) throws(RecordError) {
    let count = try reader.arrayCount()
    let version = try reader.int64()
    let isMigrated = version == Self.versionWithMigrations
    guard isMigrated ? count == 7 : version == Self.version && (count == 4 || count == 5) else {
      throw .invalid("version \(version) is unknown")
    }
    guard let code = UInt8(exactly: try reader.int64()), let keyKind = KeyKind(rawValue: code)
    else { throw .invalid("the key kind is unknown") }
    self.name = name
    self.keyKind = keyKind
    keyField = try String?._load(from: &reader)
    tables = []
    for _ in 0..<(try reader.arrayCount()) {
      var table = FieldTable()
      for _ in 0..<(try reader.arrayCount()) {
        guard try reader.arrayCount() == 3 else { throw .invalid("a field is none") }
        let name = try reader.string()
        var kindBytes = try reader.bytes()[...]
        let kind = try Kind<Int>(decoding: &kindBytes, depth: 0)
        let flags = try reader.int64()
        table.append(
          StoredField(
            name: name, kind: kind, isDeclared: flags & 1 != 0, isRequired: flags & 2 != 0))
      }
      tables.append(table)
    }
    if count > 4 {
      let flags = try reader.int64()
      isLogged = flags & 1 == 0
      isSynced = flags & 2 != 0
    }
    guard !tables.isEmpty else { throw .invalid("there is no field table") }
    if isMigrated {
      documentTable = try Int._load(from: &reader)
      migratingTo = try Int?._load(from: &reader)
      guard tables.indices.contains(documentTable) else {
        throw .invalid("the documents' field table is missing")
      }
    }
    for field in tables.lazy.flatMap(\.fields) where !field.kind.names(tablesBelow: tables.count) {
      throw .invalid("\(field.name) names a field table that is missing")
    }
  }

  private static func seed(_ name: String) -> UInt64 {
    var name = name
    return name.withUTF8 { Checksum.hash(UnsafeRawBufferPointer($0), seed: 0) }
  }
}

extension Kind where Reference == Int {
  fileprivate func names(tablesBelow count: Int) -> Bool {
    var isWithin = true
    _ = mapReferences { table in
      if table >= count { isWithin = false }
      return table
    }
    return isWithin
  }
}
