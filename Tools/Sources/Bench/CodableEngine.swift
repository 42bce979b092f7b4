import CBench
import Larder

/// Larder with the same contact as a plain `Codable` type, which declares nothing: such a type has no
/// indexes, and takes part where none is asked for.
final class CodableEngine: Engine {
  let name = "larder-codable"
  private let workload: Workload
  private let folder: ScratchFolder
  private var options = StoreOptions()
  private lazy var stored = Result { try filled() }
  private lazy var keys = workload.lookups.map { workload.contacts[$0].id }
  private lazy var batch = workload.unchanged

  init(_ workload: Workload, in parent: ScratchFolder, mapByteCount: Int) throws {
    options.mapByteCount = mapByteCount
    options.readThreadCount = 1
    self.workload = workload
    folder = try parent.folder(name)
  }

  deinit {
    folder.remove()
  }

  func run(_ operation: Operation) throws -> Sample? {
    switch operation {
    case .bulkSave: return try bulkSave()
    case .saveUnchanged: return try saveUnchanged()
    case .getByKey: return try getByKey()
    case .scanDecoded:
      let stored = try stored.get()
      let timed = try LarderEngine.time { try stored.fetch(stored.all) }
      return Sample(
        value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.digest })
    case .scanFiltered, .scanFilteredByInteger, .scanFilteredByText, .textScan:
      let stored = try stored.get()
      let city = workload.cities[0]
      let query =
        switch operation {
        case .scanFilteredByInteger: stored.where { $0.order < Workload.orderLimit }
        case .scanFilteredByText: stored.where { $0.city == city }
        case .textScan: stored.where { $0.name.contains(BENCH_NAME_PART) }
        default: stored.where { $0.balance < Workload.balanceLimit }
        }
      let timed = try LarderEngine.time { try stored.fetch(query) }
      return Sample(
        value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.glance })
    default: return nil
    }
  }

  private func open(_ folder: ScratchFolder) throws -> CodableRepository<Contact> {
    try Store(at: folder.path, options: options).repository(of: Contact.self, collection: "Contact")
  }

  private func filled() throws -> CodableRepository<Contact> {
    let contacts = try open(try folder.folder("plain"))
    try contacts.save(workload.contacts)
    return contacts
  }

  /// As ``LarderEngine``'s; what the type encodes is found out within the time, because only its
  /// first save can tell.
  private func bulkSave() throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let contacts = try open(folder)
    let seconds = try LarderEngine.time { try contacts.save(workload.contacts) }.seconds
    let checksum = try contacts.fetch(contacts.all).reduce(0) { $0 &+ $1.digest }
    try contacts.store.close()
    return Sample(value: seconds, checksum: checksum)
  }

  private func saveUnchanged() throws -> Sample {
    let contacts = try stored.get()
    _ = batch
    let saved = try LarderEngine.time { try contacts.save(batch) }
    guard saved.value.unchanged == batch.count else {
      throw WrongResult(description: "\(name): \(saved.value) is not what was saved")
    }
    let all = try contacts.fetch(contacts.all)
    return Sample(value: saved.seconds, checksum: all.reduce(0) { $0 &+ $1.digest })
  }

  private func getByKey() throws -> Sample {
    let contacts = try stored.get()
    var sum: UInt64 = 0
    _ = keys
    let seconds = try LarderEngine.time {
      for key in keys {
        guard let contact = try contacts.get(key) else { continue }
        sum &+= contact.glance
      }
    }.seconds
    return Sample(value: seconds, checksum: sum)
  }
}
