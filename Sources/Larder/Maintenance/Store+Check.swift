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
  /// consumer, migration and description of an index can be read, and there is no database that
  /// nobody knows.
  ///
  /// Large collections are read by several threads; see ``StoreOptions/readThreadCount``.
  ///
  /// - Parameter progress: Told now and then how many documents were checked; what it throws ends the
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

  /// - Returns: False where there are as many problems as a report has.
  private mutating func check(
    _ collection: Collection, total: Int, _ progress: (StoreProgress) throws -> Void
  ) throws -> Bool {
    let before = report.documentCount
    // Where one thread begins anew, it does not go back.
    var most = 0
    func tell(_ completed: Int) throws {
      most = max(most, completed)
      try StoreProgress(
        .checking, completed: before + most, total: total, documentCount: before + most
      ).tell(progress)
    }
    let expected = try snapshot.transaction.statistics(of: collection.documents).entryCount
    let documents = try checkInParts(collection, tell) ?? checkInOrder(collection, tell)
    report.documentCount += documents.count
    report.problems += documents.problems
    if report.problems.count >= CheckReport.maximumProblemCount { return false }
    if documents.count != expected {
      add(collection.name, "the tree has \(documents.count) documents and says \(expected)")
    }
    for index in documents.indexes { try check(index.index, of: collection, index.entryCount) }
    for search in documents.searches {
      if let reason = search.difference(snapshot.transaction) {
        add("index \(search.index.name) of \(collection.name)", reason)
      }
    }
    return true
  }

  private func checkInOrder(
    _ collection: Collection, _ tell: (Int) throws -> Void
  ) throws -> DocumentCheck {
    let room = CheckReport.maximumProblemCount - report.problems.count
    var documents = DocumentCheck(collection, room: room)
    try documents.check(in: .everything, LentTransaction(snapshot.transaction), tell)
    if !documents.count.isMultiple(of: DocumentCheck.stride) { try tell(documents.count) }
    return documents
  }

  /// What several threads have found.
  ///
  /// - Returns: Nil where one thread has to look: there is little to do, or something is wrong, and one thread says
  ///   what, in the order of the file.
  private func checkInParts(
    _ collection: Collection, _ tell: (Int) throws -> Void
  ) throws -> DocumentCheck? {
    let transaction = LentTransaction(snapshot.transaction)
    guard let parts = try KeyParts(of: collection, transaction) else { return nil }
    return try withoutActuallyEscaping(tell) { tell in
      let progress = SharedProgress(tell)
      let found = try progress.watching {
        try parts.make(transaction) { _, range, transaction in
          var documents = DocumentCheck(collection, room: 1)
          try documents.check(in: range, transaction) { _ in
            try progress.add(DocumentCheck.stride)
          }
          try progress.add(documents.count % DocumentCheck.stride)
          return documents
        }
      }
      guard var whole = found?.first, let others = found?.dropFirst() else { return nil }
      for other in others { whole.add(contentsOf: other) }
      return whole.problems.isEmpty && whole.count == parts.documentCount ? whole : nil
    }
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

  mutating func add(_ place: String, _ reason: String) {
    report.problems.append(CheckReport.Problem(place: place, reason: reason))
  }
}
