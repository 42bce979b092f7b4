import CBench
internal import Foundation
internal import GRDB

/// GRDB through its public face: a `DatabasePool`, records that are `Codable`, its query interface. Its
/// commits are made durable, as the others' are; that is not its default.
final class GRDBEngine: Engine {
  let name = "grdb"
  private let workload: Workload
  private let folder: ScratchFolder
  private lazy var plain = Result { try filled("plain") }
  private lazy var indexed = Result { try filled("indexed", indexes: [["city"], ["order"]]) }
  private lazy var compound = Result { try filled("compound", indexes: [["city", "order"]]) }
  private lazy var contacts = workload.contacts.map { PeerContact($0) }
  private lazy var keys = workload.lookups.map { workload.contacts[$0].id }
  private var fileByteCount = 0.0

  init(_ workload: Workload, in parent: ScratchFolder) throws {
    self.workload = workload
    folder = try parent.folder(name)
  }

  deinit { folder.remove() }

  func run(_ operation: Operation) throws -> Sample? {
    let ordered = PeerContact.order(PeerContact.Columns.id)
    let city = workload.cities[0]
    switch operation {
    case .bulkSave: return try bulkSave([])
    case .bulkSaveIndexed: return try bulkSave([["city"], ["order"]])
    case .saveUnchanged: return try saveUnchanged()
    case .writeSingly: return try writeSingly()
    case .getByKey: return try getByKey()
    case .scanDecoded: return try fetchAll(ordered)
    case .scanFiltered:
      return try fetch(ordered.filter(PeerContact.Columns.balance < Workload.balanceLimit))
    case .scanFilteredByInteger:
      return try fetch(ordered.filter(PeerContact.Columns.order < Workload.orderLimit))
    case .scanFilteredByText: return try fetch(ordered.filter(PeerContact.Columns.city == city))
    case .textScan:
      return try fetch(ordered.filter(sql: "instr(name, ?) > 0", arguments: [BENCH_NAME_PART]))
    case .sortFirst: return try fetch(Self.byName.limit(Workload.topCount))
    case .sortAll: return try fetchAll(Self.byName)
    case .queryCity:
      return try fetchEach(
        workload.cities.map { ordered.filter(PeerContact.Columns.city == $0) }, indexed.get())
    case .queryCompound:
      let orders = Workload.orders
      return try fetchEach(
        workload.cities.map {
          PeerContact.order(PeerContact.Columns.order, PeerContact.Columns.id)
            .filter(PeerContact.Columns.city == $0)
            .filter(PeerContact.Columns.order >= orders.lowerBound)
            .filter(PeerContact.Columns.order < orders.upperBound)
        }, compound.get())
    case .topByOrder: return try top()
    case .countCity:
      return try count(workload.cities.map { PeerContact.filter(PeerContact.Columns.city == $0) })
    case .countPrefix, .countRange:
      return try count([
        PeerContact.filter(PeerContact.Columns.city >= BENCH_CITY_PREFIX)
          .filter(PeerContact.Columns.city < BENCH_CITY_PREFIX_END)
      ])
    case .fileSize:
      _ = try indexed.get()
      return Sample(value: fileByteCount, checksum: 0)
    default: return nil
    }
  }

  private static var byName: QueryInterfaceRequest<PeerContact> {
    PeerContact.order(PeerContact.Columns.name, PeerContact.Columns.id)
  }

  // MARK: Databases

  static func open(
    in folder: ScratchFolder, indexes: [[String]]
  ) throws -> DatabasePool {
    let path = folder.url.appendingPathComponent("contacts.sqlite").path
    let pool = try DatabasePool(path: path)
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      try PeerContact.create(database)
      for columns in indexes {
        try database.create(indexOn: PeerContact.databaseTableName, columns: columns)
      }
    }
    return pool
  }

  private func filled(_ name: String, indexes: [[String]] = []) throws -> DatabasePool {
    let folder = try folder.folder(name)
    let pool = try Self.open(in: folder, indexes: indexes)
    try save(contacts, in: pool)
    try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    if name == "indexed" { fileByteCount = try folder.byteCount(of: "contacts.sqlite") }
    return pool
  }

  private func save(_ contacts: [PeerContact], in pool: DatabasePool) throws {
    try pool.write { database in for contact in contacts { try contact.upsert(database) } }
  }

  private func digest(of pool: DatabasePool) throws -> UInt64 {
    try pool.read { try PeerContact.fetchAll($0) }.reduce(0) { $0 &+ $1.contact.digest }
  }

  // MARK: Saving

  private func bulkSave(_ indexes: [[String]]) throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let pool = try Self.open(in: folder, indexes: indexes)
    _ = contacts
    let seconds = try LarderEngine.time { try save(contacts, in: pool) }.seconds
    let checksum = try digest(of: pool)
    try pool.close()
    return Sample(value: seconds, checksum: checksum)
  }

  private func saveUnchanged() throws -> Sample {
    let pool = try plain.get()
    let batch = workload.unchanged.map { PeerContact($0) }
    let seconds = try LarderEngine.time { try save(batch, in: pool) }.seconds
    return Sample(value: seconds, checksum: try digest(of: pool))
  }

  private func writeSingly() throws -> Sample {
    let pool = try indexed.get()
    let places = (0..<Workload.singleCount).map { 2 * $0 + 1 }
    let documents =
      places.map { PeerContact(workload.halfChanged[$0]) }
      + places.map { PeerContact(workload.unchanged[$0]) }
    let seconds = try LarderEngine.time {
      for document in documents { try pool.write { try document.upsert($0) } }
    }.seconds
    return Sample(value: seconds, checksum: try digest(of: pool))
  }

  // MARK: Reading

  private func getByKey() throws -> Sample {
    let pool = try plain.get()
    _ = keys
    var sum: UInt64 = 0
    let seconds = try LarderEngine.time {
      for key in keys {
        guard let contact = try pool.read({ try PeerContact.fetchOne($0, key: key) }) else {
          continue
        }
        sum &+= contact.contact.glance
      }
    }.seconds
    return Sample(value: seconds, checksum: sum)
  }

  private func fetch(_ request: QueryInterfaceRequest<PeerContact>) throws -> Sample {
    let pool = try plain.get()
    let timed = try LarderEngine.time { try pool.read { try request.fetchAll($0) } }
    return Sample(
      value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.contact.glance })
  }

  private func fetchAll(_ request: QueryInterfaceRequest<PeerContact>) throws -> Sample {
    let pool = try plain.get()
    let timed = try LarderEngine.time { try pool.read { try request.fetchAll($0) } }
    return Sample(
      value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.contact.digest })
  }

  private func fetchEach(
    _ requests: [QueryInterfaceRequest<PeerContact>], _ pool: DatabasePool
  ) throws -> Sample {
    var sum: UInt64 = 0
    let seconds = try LarderEngine.time {
      for request in requests {
        sum = try pool.read { try request.fetchAll($0) }.reduce(sum) { $0 &+ $1.contact.glance }
      }
    }.seconds
    return Sample(value: seconds, checksum: sum)
  }

  private func top() throws -> Sample {
    let pool = try indexed.get()
    let request = PeerContact.order(PeerContact.Columns.order.desc, PeerContact.Columns.id)
      .limit(Workload.topCount)
    var sum: UInt64 = 0
    let seconds = try LarderEngine.time {
      for _ in 0..<Workload.topRepetitions {
        sum = try pool.read { try request.fetchAll($0) }.reduce(0) { $0 &+ $1.contact.glance }
      }
    }.seconds
    return Sample(value: seconds, checksum: sum)
  }

  private func count(_ requests: [QueryInterfaceRequest<PeerContact>]) throws -> Sample {
    let pool = try indexed.get()
    var sum = 0
    let seconds = try LarderEngine.time {
      for _ in 0..<Workload.countRepetitions {
        for request in requests { sum += try pool.read { try request.fetchCount($0) } }
      }
    }.seconds
    return Sample(value: seconds, checksum: UInt64(sum))
  }
}

// MARK: Watching

extension GRDBEngine {
  /// From before a save of one contact to the result of a `ValueObservation` of its city that has it.
  static func watch(
    _ workload: Workload, changes: Int, in parent: ScratchFolder, _ add: (Double) -> Void
  ) async throws {
    let folder = try parent.folder("grdb-watch")
    defer { folder.remove() }
    let pool = try open(in: folder, indexes: [["city", "order"]])
    try await pool.write { [contacts = workload.contacts.map { PeerContact($0) }] database in
      for contact in contacts { try contact.upsert(database) }
    }
    let city = workload.cities[0]
    let observation = ValueObservation.tracking { database in
      try PeerContact.filter(PeerContact.Columns.city == city)
        .order(PeerContact.Columns.order, PeerContact.Columns.id).fetchAll(database)
    }
    var results = observation.values(in: pool).makeAsyncIterator()
    guard let first = try await results.next() else { return }
    var changed = PeerContact(workload.page[0])
    for number in 0..<changes {
      try await Task.sleep(for: .milliseconds(1))
      changed.order = Int64(number)
      let begun = ContinuousClock.now
      try await pool.write { [changed] in try changed.upsert($0) }
      while let rows = try await results.next() {
        guard rows.count == first.count else {
          throw WrongResult(description: "grdb: the observation gave other rows")
        }
        if rows.contains(where: { $0.id == changed.id && $0.order == changed.order }) { break }
      }
      add((ContinuousClock.now - begun) / .seconds(1))
    }
    try pool.close()
  }
}
