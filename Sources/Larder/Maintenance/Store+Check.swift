internal import LarderLMDB

/// What a check of a store looked at, and what it found wrong.
public struct CheckReport: Sendable, Equatable {
  /// One thing that is wrong.
  public struct Problem: Sendable, Equatable, CustomStringConvertible {
    /// The collection and the key, or the part of the store.
    public let place: String
    /// What is wrong there.
    public let reason: String

    public var description: String { "\(place): \(reason)" }
  }

  /// Documents that were looked at.
  public internal(set) var documentCount = 0
  /// The first ones; a check ends at ``maximumProblemCount``.
  public internal(set) var problems: [Problem] = []

  /// Problems after which a check ends.
  public static let maximumProblemCount = 100

  /// Whether nothing is wrong.
  public var isSound: Bool { problems.isEmpty }
}

extension Store {
  /// Reads every page and then every record of one snapshot: pages are what LMDB takes for granted,
  /// every checksum holds, every field can be read and is
  /// of its catalogued kind, the key in the document is the key that it is stored under, and
  /// the counts agree. So with what the store keeps beside documents: every pack of the change log,
  /// consumer and migration can be read, and there is no database that nobody knows.
  ///
  /// - Parameter progress: Told every 1,000 documents how many were checked; what it throws ends the
  ///   check.
  /// - Throws: ``StoreError`` when the store cannot be read at all; what `progress` throws;
  ///   `CancellationError` where the task was cancelled. What is wrong with single documents is in the
  ///   report.
  public func check(
    progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> CheckReport {
    try checkOpen()
    defer { withExtendedLifetime(self) {} }
    return try engine.storing {
      // First, as LMDB would not survive what it trusts in.
      var report = CheckReport()
      report.problems = try engine.environment.checkPages().faults.map {
        CheckReport.Problem(place: "page \($0.page)", reason: $0.reason)
      }
      if report.isSound {
        // Opened before the snapshot, which could not use a handle that is younger.
        let inside = try StoreInside(engine)
        var checker = Checker(inside, snapshot: try engine.snapshot())
        try checker.check(progress)
        report = checker.report
      }
      if !report.isSound { engine.noteSuspicion() }
      return report
    }
  }
}

struct Checker: ~Copyable {
  let snapshot: Snapshot
  let inside: StoreInside
  var report = CheckReport()

  init(_ inside: StoreInside, snapshot: consuming Snapshot) {
    self.inside = inside
    self.snapshot = snapshot
  }

  mutating func check(_ progress: (StoreProgress) throws -> Void) throws {
    let collections = snapshot.catalogue.collections.values.sorted { $0.name < $1.name }
    var total = 0
    for collection in collections {
      total += try snapshot.transaction.statistics(of: collection.documents).entryCount
    }
    try checkCatalogue()
    try checkNotes()
    try checkInside()
    for collection in collections {
      guard try check(collection, total: total, progress) else { return }
    }
  }

  /// What the catalogue says on disk is what is known here.
  private mutating func checkCatalogue() throws {
    guard
      let database = try snapshot.engine.environment.database(
        named: Layout.catalogueName, create: false)
    else { return }
    var names: Set<String> = []
    var cursor = try snapshot.transaction.cursor(in: database)
    while try cursor.next() {
      let name = String(decoding: cursor.key, as: UTF8.self)
      names.insert(name)
      do {
        let description = try CollectionDescription(name: name, cursor.value)
        if description != snapshot.catalogue[name]?.description {
          add("catalogue, \(name)", "it differs from the description in use")
        }
      } catch {
        add("catalogue, \(name)", "\(error)")
      }
    }
    if names != Set(snapshot.catalogue.collections.keys) {
      add("catalogue", "its collections differ from those in use")
    }
  }

  private mutating func checkNotes() throws {
    let prefix = [UInt8](Layout.notesPrefix.utf8)
    var cursor = try snapshot.transaction.cursor(in: .main)
    var isThere = try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while isThere, cursor.key.starts(with: prefix) {
      let name = String(decoding: cursor.key.dropFirst(prefix.count), as: UTF8.self)
      if StoreNote(cursor.value, name: name) == nil {
        add("note \(name)", "its checksum does not match")
      }
      isThere = try cursor.next()
    }
  }

  private mutating func check(
    _ collection: Collection, total: Int, _ progress: (StoreProgress) throws -> Void
  ) throws -> Bool {
    let binding = CollectionBinding(collection)
    let expected = try snapshot.transaction.statistics(of: collection.documents).entryCount
    var count = 0
    var lastKey: [UInt8] = []
    var indexes = collection.indexes.filter { $0.isComplete && !$0.isOfWords }.map {
      IndexCheck($0, in: collection)
    }
    let searches = collection.indexes.filter { $0.isComplete && $0.isOfWords }.map {
      SearchCheck($0, in: collection)
    }
    var cursor = try snapshot.transaction.cursor(in: collection.documents)
    while try cursor.next() {
      let key = cursor.key
      if count > 0, lastKey.withUnsafeBytes({ Bytes.compare($0, key) >= 0 }) {
        add(collection, key, "keys are out of order")
      }
      lastKey = [UInt8](key)
      do {
        try check(cursor.value, key: key, binding)
        for place in indexes.indices {
          try indexes[place].check(cursor.value, key: key, binding, snapshot.transaction)
        }
        for search in searches { try search.add(cursor.value, key: key, binding) }
      } catch {
        add(collection, key, "\(error)")
      }
      count += 1
      report.documentCount += 1
      if report.problems.count >= CheckReport.maximumProblemCount { return false }
      if report.documentCount % 1000 == 0 {
        try StoreProgress(
          .checking, completed: report.documentCount, total: total,
          documentCount: report.documentCount
        ).tell(progress)
      }
    }
    if count != expected {
      add(collection.name, "the tree has \(count) documents and says \(expected)")
    }
    for index in indexes { try check(index.index, of: collection, index.entryCount) }
    for search in searches {
      if let reason = search.difference(snapshot.transaction) {
        add("index \(search.index.name) of \(collection.name)", reason)
      }
    }
    return true
  }

  /// Every index has an entry for each value of each document, and no other.
  private mutating func check(
    _ index: CollectionIndex, of collection: Collection, _ expected: Int
  ) throws {
    let found = try snapshot.transaction.statistics(of: index.database).entryCount
    if found != expected {
      add(
        "index \(index.name) of \(collection.name)",
        "it has \(found) entries, and its documents have \(expected)")
    }
  }

  private func check(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ binding: CollectionBinding
  ) throws {
    let collection = binding.collection
    guard (1...KeyKind.maximumByteCount).contains(key.count),
      let keyValue = collection.keyKind.value(of: key)
    else { throw RecordError.invalid("the key is no \(collection.keyKind)") }
    let verified = try collection.verified(record, key: key)
    guard try RecordHeader(verified).byteCount == verified.count else {
      throw RecordError.invalid("bytes follow the record")
    }
    let document = try DynamicDocument(record: verified, binding: binding)
    // Kinds are checked by writing the document again: what a reader accepts, a writer must.
    // Bytes may differ, and fields be missing: the type may have grown since.
    var writer = RecordWriter(binding: binding)
    writer.isRehearsing = true
    do {
      let table = try RecordHeader(verified).table
      guard table == collection.documentTable || collection.description.migratingTo != nil else {
        throw RecordError.invalid("it was never migrated")
      }
      _ = try writer.putDocument(document, table: table, key: key)
    } catch let error as CoercionError {
      throw RecordError.invalid(
        "\(error.path.joined(separator: ".")): expected \(error.expected), found \(error.found)")
    }
    if let name = collection.description.keyField, let stored = document[name],
      !stored.isEqual(to: keyValue)
    {
      throw RecordError.invalid("field \(name) holds another key")
    }
  }

  mutating func add(_ place: String, _ reason: String) {
    report.problems.append(CheckReport.Problem(place: place, reason: reason))
  }

  private mutating func add(
    _ collection: Collection, _ key: UnsafeRawBufferPointer, _ reason: String
  ) {
    add("\(collection.name) \(collection.keyKind.text(of: key))", reason)
  }
}

/// Looks for the entries of documents in one index.
private struct IndexCheck {
  let index: CollectionIndex
  private(set) var entryCount = 0
  private let encoder: IndexEncoder

  init(_ index: CollectionIndex, in collection: Collection) {
    self.index = index
    encoder = IndexEncoder(index, in: collection)
  }

  /// - Throws: ``RecordError/invalid(_:)`` for an entry that is missing.
  mutating func check(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ binding: CollectionBinding,
    _ transaction: borrowing ReadTransaction
  ) throws {
    let verified = try binding.collection.verified(record, key: key)
    let reader = try RecordReader(verified, binding: binding, schema: binding.anonymous, depth: 1)
    var bytes = OrderedBytes()
    var entries: Set<[UInt8]> = []
    encoder.encode(reader, into: &bytes) { values, _, _, bytes in
      entries.insert([UInt8](bytes[values]) + key)
    }
    for entry in entries {
      let isThere = try entry.withUnsafeBytes { entry in
        try transaction.withValue(for: entry, in: index.database) { value in
          index.valueByteCount(ofEntry: entry, value) == entry.count - key.count
        }
      }
      guard let isThere else {
        throw RecordError.invalid("it is missing in the index \(index.name)")
      }
      if !isThere { throw RecordError.invalid("its entry in the index \(index.name) is damaged") }
    }
    entryCount += entries.count
  }
}
