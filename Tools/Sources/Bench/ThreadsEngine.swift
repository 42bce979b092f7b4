import CBench
import Larder

/// Larder as apps have it, whose reads of large collections use all processors. The others read on one, so that they can
/// be compared. It takes part where that makes a difference.
final class ThreadsEngine: Engine {
  let name = "larder-threads"
  private let workload: Workload
  private let folder: ScratchFolder
  private var options = StoreOptions()
  private lazy var stored = Result { try filled("documents") }

  init(_ workload: Workload, in parent: ScratchFolder, mapByteCount: Int) throws {
    options.mapByteCount = mapByteCount
    self.workload = workload
    folder = try parent.folder(name)
  }

  deinit {
    folder.remove()
  }

  func run(_ operation: Operation) throws -> Sample? {
    switch operation {
    case .scanDecoded: return try fetch(Contact.all) { $0.digest }
    case .scanFiltered: return try fetch(Contact.where { $0.balance < Workload.balanceLimit })
    case .scanFilteredByInteger:
      return try fetch(Contact.where { $0.order < Workload.orderLimit })
    case .scanFilteredByText:
      let city = workload.cities[0]
      return try fetch(Contact.where { $0.city == city })
    case .textScan: return try fetch(Contact.where { $0.name.contains(BENCH_NAME_PART) })
    default: return nil
    }
  }

  private func fetch(
    _ query: Query<Contact>, digest: (Contact) -> UInt64 = { $0.glance }
  ) throws -> Sample {
    let stored = try stored.get()
    let timed = try LarderEngine.time { try stored.fetch(query) }
    return Sample(value: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ digest($1) })
  }

  private func filled(_ name: String) throws -> StoreRepository<Contact> {
    let folder = try folder.folder(name)
    let contacts = try Store(at: folder.path, options: options).repository(of: Contact.self)
    try contacts.save(workload.contacts)
    return contacts
  }
}
