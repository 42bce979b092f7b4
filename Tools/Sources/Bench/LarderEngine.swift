import CBench
import Foundation
import Larder

/// Larder through its public face, with the checksum of every record on and a change log written.
///
/// Queries are values that are made once, before the time, as SQLite's statements are prepared.
final class LarderEngine: Engine {
  let name: String
  private let usesThreads: Bool
  private let workload: Workload
  private let folder: ScratchFolder
  private var options = StoreOptions()
  private lazy var plain = Result { try filled("plain", workload.contacts) }
  private lazy var indexed = Result { try filled("indexed", indexedContacts) }
  private lazy var compound = Result {
    try filled("compound", workload.contacts.map { CompoundContact(contact: $0) })
  }
  private lazy var indexedContacts = workload.contacts.map { IndexedContact(contact: $0) }
  private lazy var keys = workload.lookups.map { workload.contacts[$0].id }
  private lazy var batch = workload.unchanged
  private lazy var indexedBatch = batch.map { IndexedContact(contact: $0) }
  private lazy var cityQueries = workload.cities.map { city in
    IndexedContact.where { $0.city == city }
  }
  private var fileByteCount = 0.0

  /// What several threads share.
  private static let scans: Set<Operation> = [
    .scanDecoded, .scanFiltered, .scanFilteredByInteger, .scanFilteredByText, .textScan, .sortFirst,
    .sum, .sumsByCity, .check,
  ]

  /// - Parameter usesThreads: Whether scans use all processors, as in apps. It takes part in scans alone then; where
  ///   it is compared with the others, it has one thread as they have.
  init(
    _ workload: Workload, in parent: ScratchFolder, mapByteCount: Int, usesThreads: Bool = false
  ) throws {
    name = usesThreads ? "larder-threads" : "larder"
    self.usesThreads = usesThreads
    options.mapByteCount = mapByteCount
    options.readThreadCount = usesThreads ? nil : 1
    self.workload = workload
    folder = try parent.folder(name)
  }

  deinit {
    folder.remove()
  }

  func run(_ operation: Operation) throws -> Sample? {
    if usesThreads, !Self.scans.contains(operation) { return nil }
    switch operation {
    case .bulkSave: return try bulkSave(workload.contacts) { $0.digest }
    case .bulkSaveIndexed: return try bulkSave(indexedContacts) { $0.contact.digest }
    case .saveHalfChanged: return try saveHalfChanged()
    case .saveUnchanged, .saveMappedUnchanged: return try saveUnchanged()
    case .saveMapped: return try bulkSave(workload.contacts) { $0.digest }
    case .saveMappedShuffled: return try bulkSave(workload.shuffled) { $0.digest }
    case .memoryOfMappedSave:
      return try bulkSave(workload.contacts, watchesMemory: true) { $0.digest }
    case .memoryOfMappedShuffled:
      return try bulkSave(workload.shuffled, watchesMemory: true) { $0.digest }
    case .replaceCity: return try replaceCity()
    case .writeSingly: return try writeSingly()
    case .getByKey: return try getByKey()
    case .scanDecoded:
      let timed = try Self.time { [plain = try plain.get()] in try plain.fetch(Contact.all) }
      return Sample(value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.digest })
    case .scanFiltered: return try scan(Contact.where { $0.balance < Workload.balanceLimit })
    case .scanFilteredByInteger:
      return try scan(Contact.where { $0.order < Workload.orderLimit })
    case .scanFilteredByText:
      let city = workload.cities[0]
      return try scan(Contact.where { $0.city == city })
    case .textScan: return try scan(Contact.where { $0.name.contains(BENCH_NAME_PART) })
    case .sortFirst:
      return try scan(Contact.all.sorted(by: \.name).limit(Workload.topCount))
    case .sortAll:
      let query = Contact.all.sorted(by: \.name)
      let timed = try Self.time { [plain = try plain.get()] in try plain.fetch(query) }
      return Sample(value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.digest })
    case .sum:
      let timed = try Self.time { [plain = try plain.get()] in try plain.sum(\.order) }
      return Sample(value: timed.seconds, checksum: UInt64(bitPattern: Int64(timed.value)))
    case .sumsByCity:
      let timed = try Self.time { [plain = try plain.get()] in
        try plain.sums(of: \.order, by: \.city)
      }
      return Sample(
        value: timed.seconds,
        checksum: timed.value.reduce(0) { $0 &+ Workload.square(Int64($1.value)) })
    case .check:
      let timed = try Self.time { [store = try indexed.get().store] in try store.check() }
      guard timed.value.isSound else { throw WrongResult(description: "\(timed.value.problems)") }
      return Sample(value: timed.seconds, checksum: UInt64(timed.value.documentCount))
    case .indexBuild: return try buildIndex()
    case .queryCity: return try fetchEach(cityQueries, from: try indexed.get())
    case .queryCompound:
      let queries = workload.cities.map { city in
        CompoundContact.where {
          $0.city == city && $0.order >= Workload.orders.lowerBound
            && $0.order < Workload.orders.upperBound
        }.sorted(by: \.order)
      }
      return try fetchEach(queries, from: try compound.get())
    case .topByOrder: return try top()
    case .countCity: return try count(cityQueries)
    case .countPrefix:
      return try count([IndexedContact.where { $0.city.hasPrefix(BENCH_CITY_PREFIX) }])
    case .countRange:
      return try count([
        IndexedContact.where { $0.city >= BENCH_CITY_PREFIX && $0.city < BENCH_CITY_PREFIX_END }
      ])
    case .open: return try open()
    case .fileSize:
      _ = try indexed.get()
      return Sample(value: fileByteCount, checksum: 0)
    case .memoryOfSave:
      return try bulkSave(indexedContacts, watchesMemory: true) { $0.contact.digest }
    case .memoryOfScan:
      let query = Contact.where { $0.balance < Workload.balanceLimit }
      let plain = try plain.get()
      let watched = try MemoryWatch.peak { try plain.fetch(query) }
      return Sample(
        value: watched.bytes, checksum: watched.value.reduce(0) { $0 &+ $1.glance })
    }
  }

  private func buildIndex() throws -> Sample {
    let contacts = try plain.get().store.collection(Contact.schema.name)
    let timed = try Self.time {
      try contacts.createIndex(on: "order", name: Self.builtIndex)
      try contacts.buildIndexes()
      return try contacts.indexes().first { $0.name == Self.builtIndex }?.entryCount ?? 0
    }
    try contacts.dropIndex(Self.builtIndex)
    // Its entries are deleted in the background.
    while try contacts.indexes().contains(where: { $0.name == Self.builtIndex }) { usleep(1_000) }
    return Sample(value: timed.seconds, checksum: UInt64(timed.value))
  }

  private static let builtIndex = "built"

  private func scan(_ query: Query<Contact>) throws -> Sample {
    let timed = try Self.time { [plain = try plain.get()] in try plain.fetch(query) }
    return Sample(value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.glance })
  }

  /// A store that holds the whole workload.
  private func filled<Entity: Document>(
    _ name: String, _ documents: [Entity]
  ) throws -> StoreRepository<Entity> {
    let folder = try folder.folder(name)
    let contacts = try Store(at: folder.path, options: options).repository(of: Entity.self)
    try contacts.store.declare(Entity.self)
    try contacts.save(documents)
    if Entity.self == IndexedContact.self {
      fileByteCount = try folder.byteCount(of: "data.mdb")
    }
    return contacts
  }

  /// Runs `body`; returns what it gives, and the seconds. A profiler finds it by its name.
  @inline(never) static func time<Value>(
    _ body: () throws -> Value
  ) rethrows -> (value: Value, seconds: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    let value = try body()
    return (value, (clock.now - start) / .seconds(1))
  }
}

// MARK: Saving

extension LarderEngine {
  private func bulkSave<Entity: Document>(
    _ documents: [Entity], watchesMemory: Bool = false, digest: (Entity) -> UInt64
  ) throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let store = try Store(at: folder.path, options: options)
    try store.declare(Entity.self)
    let contacts = store.repository(of: Entity.self)
    let value =
      watchesMemory
      ? try MemoryWatch.peak { try contacts.save(documents) }.bytes
      : try Self.time { try contacts.save(documents) }.seconds
    let checksum = try contacts.fetch(Entity.all).reduce(0) { $0 &+ digest($1) }
    try store.close()
    return Sample(value: value, checksum: checksum)
  }

  private func saveHalfChanged() throws -> Sample {
    let contacts = try indexed.get()
    let changed = workload.halfChanged.map { IndexedContact(contact: $0) }
    let saved = try Self.time { try contacts.save(changed) }
    try require(saved.value.updated == changed.count / 2, saved.value)
    let checksum = try digest(of: contacts)
    try contacts.save(indexedBatch)
    return Sample(value: saved.seconds, checksum: checksum)
  }

  private func saveUnchanged() throws -> Sample {
    let contacts = try plain.get()
    _ = batch
    let saved = try Self.time { try contacts.save(batch) }
    try require(saved.value.unchanged == batch.count, saved.value)
    return Sample(
      value: saved.seconds, checksum: try contacts.fetch(Contact.all).reduce(0) { $0 &+ $1.digest })
  }

  private func replaceCity() throws -> Sample {
    let contacts = try indexed.get()
    let query = cityQueries[0]
    let page = workload.laterPage.map { IndexedContact(contact: $0) }
    let seconds = try Self.time { try contacts.save(page, clearBeforeSaving: query) }.seconds
    let checksum = try digest(of: contacts)
    try contacts.save(workload.page.map { IndexedContact(contact: $0) }, clearBeforeSaving: query)
    return Sample(value: seconds, checksum: checksum)
  }

  private func writeSingly() throws -> Sample {
    let contacts = try indexed.get()
    let places = (0..<Workload.singleCount).map { 2 * $0 + 1 }
    let changed = workload.halfChanged.map { IndexedContact(contact: $0) }
    let documents = places.map { changed[$0] } + places.map { indexedBatch[$0] }
    let seconds = try Self.time { for document in documents { try contacts.save(document) } }
      .seconds
    return Sample(value: seconds, checksum: try digest(of: contacts))
  }

  private func digest(of contacts: StoreRepository<IndexedContact>) throws -> UInt64 {
    try contacts.fetch(IndexedContact.all).reduce(0) { $0 &+ $1.contact.digest }
  }

  private func require(_ isRight: Bool, _ report: SaveReport) throws {
    if !isRight { throw WrongResult(description: "larder: \(report) is not what was saved") }
  }
}

// MARK: Reading

extension LarderEngine {
  private func getByKey() throws -> Sample {
    let contacts = try plain.get()
    var sum: UInt64 = 0
    _ = keys
    let seconds = try Self.time {
      for key in keys {
        guard let contact = try contacts.get(key) else { continue }
        sum &+= contact.glance
      }
    }.seconds
    return Sample(value: seconds, checksum: sum)
  }

  private func fetchEach<Entity: ContactWithIndexes>(
    _ queries: [Query<Entity>], from contacts: StoreRepository<Entity>
  ) throws -> Sample {
    var sum: UInt64 = 0
    let seconds = try Self.time {
      for query in queries {
        sum = try contacts.fetch(query).reduce(sum) { $0 &+ $1.contact.glance }
      }
    }.seconds
    return Sample(value: seconds, checksum: sum)
  }

  private func top() throws -> Sample {
    let contacts = try indexed.get()
    let query = IndexedContact.all.sorted(by: \.order, .reverse).limit(Workload.topCount)
    var sum: UInt64 = 0
    let seconds = try Self.time {
      for _ in 0..<Workload.topRepetitions {
        sum = try contacts.fetch(query).reduce(0) { $0 &+ $1.contact.glance }
      }
    }.seconds
    return Sample(value: seconds, checksum: sum)
  }

  private func count(_ queries: [Query<IndexedContact>]) throws -> Sample {
    let contacts = try indexed.get()
    var sum = 0
    let seconds = try Self.time {
      for _ in 0..<Workload.countRepetitions {
        for query in queries { sum += try contacts.count(query) }
      }
    }.seconds
    return Sample(value: seconds, checksum: UInt64(sum))
  }

  private func open() throws -> Sample {
    let copy = try folder.folder("copy")
    defer { copy.remove() }
    _ = try indexed.get()
    try copy.copyFiles(from: folder.inner("indexed"))
    // A file that comes from elsewhere is walked whole when it is first opened; this is what
    // opening it costs from then on.
    try Store(at: copy.path, options: options).close()
    let key = keys[0]
    var seconds = 0.0
    var sum: UInt64 = 0
    for _ in 0..<Workload.openCount {
      let opened = try Self.time {
        let store = try Store(at: copy.path, options: options)
        sum = try store.repository(of: IndexedContact.self).get(key)?.contact.glance ?? 0
        return store
      }
      seconds += opened.seconds
      try opened.value.close()
    }
    return Sample(value: seconds, checksum: sum)
  }
}
