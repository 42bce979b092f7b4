import Foundation
import Larder

/// Larder through its public face, with the checksum of every record on.
final class LarderEngine: Engine {
  let name = "larder"
  private let workload: Workload
  private let folder: ScratchFolder
  private let store: Store
  private let contacts: StoreRepository<Contact>
  private var keys: [String] = []
  private var batch: [Contact] = []

  init(_ workload: Workload, in parent: ScratchFolder) throws {
    self.workload = workload
    folder = try parent.folder(name)
    store = try Store(at: folder.folder("filled").path)
    contacts = store.repository(of: Contact.self)
    _ = workload.contacts
  }

  deinit {
    folder.remove()
  }

  func fill() throws {
    try contacts.save(workload.contacts)
    keys = workload.lookups.map { workload.contacts[$0].id }
    batch = workload.batch.map { workload.contacts[$0] }
  }

  func run(_ operation: Operation) throws -> Sample? {
    switch operation {
    case .bulkSave: return try bulkSave()
    case .getByKey: return try getByKey()
    case .scanDecoded: return try scan()
    case .saveUnchanged:
      let report = try time { try contacts.save(batch) }
      guard report.value.unchanged == batch.count else {
        throw WrongResult(description: "larder: \(report.value), expected all unchanged")
      }
      return Sample(seconds: report.seconds, checksum: try digest(of: contacts))
    }
  }

  private func bulkSave() throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let store = try Store(at: folder.path)
    try store.declare(Contact.self)
    let contacts = store.repository(of: Contact.self)
    let timed = try time { try contacts.save(workload.contacts) }
    let sample = Sample(seconds: timed.seconds, checksum: try digest(of: contacts))
    try store.close()
    return sample
  }

  private func getByKey() throws -> Sample {
    var sum: UInt64 = 0
    let timed = try time {
      for key in keys {
        guard let contact = try contacts.get(key) else { continue }
        sum &+= contact.glance
      }
    }
    return Sample(seconds: timed.seconds, checksum: sum)
  }

  private func scan() throws -> Sample {
    let timed = try time { try contacts.fetch(Contact.all) }
    return Sample(
      seconds: timed.seconds, checksum: timed.value.reduce(0) { $0 &+ $1.digest })
  }

  private func digest(of contacts: StoreRepository<Contact>) throws -> UInt64 {
    try contacts.fetch(Contact.all).reduce(0) { $0 &+ $1.digest }
  }

  private func time<Value>(
    _ body: () throws -> Value
  ) rethrows -> (value: Value, seconds: Double) {
    let clock = ContinuousClock()
    let start = clock.now
    let value = try body()
    return (value, (clock.now - start) / .seconds(1))
  }
}
