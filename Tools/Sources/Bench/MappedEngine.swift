import Larder

/// Larder with the same contact as a domain model that a mapper keeps as a document. Takes part in the
/// rows of mapped saves, where ``LarderEngine`` saves documents without a mapper.
final class MappedEngine: Engine {
  let name = "larder-mapped"
  private let workload: Workload
  private let folder: ScratchFolder
  private var options = StoreOptions()
  private lazy var stored = Result { try filled() }
  private lazy var models = workload.contacts.map { ContactModel($0) }
  private lazy var shuffled = workload.shuffled.map { ContactModel($0) }
  private lazy var batch = workload.unchanged.map { ContactModel($0) }

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
    case .saveMapped: return try save(models)
    case .saveMappedShuffled: return try save(shuffled)
    case .saveMappedUnchanged: return try saveUnchanged()
    case .memoryOfMappedSave: return try save(models, watchesMemory: true)
    case .memoryOfMappedShuffled: return try save(shuffled, watchesMemory: true)
    default: return nil
    }
  }

  private func open(_ folder: ScratchFolder) throws -> MappedRepository<ContactMapper> {
    let store = try Store(at: folder.path, options: options)
    try store.declare(Contact.self)
    return store.repository(of: Contact.self, mappedBy: ContactMapper())
  }

  private func filled() throws -> MappedRepository<ContactMapper> {
    let contacts = try open(try folder.folder("plain"))
    try contacts.save(models)
    return contacts
  }

  private func save(_ models: [ContactModel], watchesMemory: Bool = false) throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let contacts = try open(folder)
    let value =
      watchesMemory
      ? try MemoryWatch.peak { try contacts.save(models) }.bytes
      : try LarderEngine.time { try contacts.save(models) }.seconds
    let checksum = try digest(of: contacts)
    try contacts.store.close()
    return Sample(value: value, checksum: checksum)
  }

  private func saveUnchanged() throws -> Sample {
    let contacts = try stored.get()
    _ = batch
    let saved = try LarderEngine.time { try contacts.save(batch) }
    guard saved.value.unchanged == batch.count else {
      throw WrongResult(description: "\(name): \(saved.value) is not what was saved")
    }
    return Sample(value: saved.seconds, checksum: try digest(of: contacts))
  }

  private func digest(of contacts: MappedRepository<ContactMapper>) throws -> UInt64 {
    try contacts.store.repository(of: Contact.self).fetch(Contact.all).reduce(0) {
      $0 &+ $1.digest
    }
  }
}

/// What an app works with.
struct ContactModel: Sendable {
  var id: String
  var name: String
  var phone: String
  var address: String
  var city: String
  var order: Int64
  var balance: Double
  var updatedAt: Double
  var tags: [String]
  var active: Bool
  var geo: Contact.Geo?

  init(_ contact: Contact) {
    id = contact.id
    name = contact.name
    phone = contact.phone
    address = contact.address
    city = contact.city
    order = contact.order
    balance = contact.balance
    updatedAt = contact.updatedAt
    tags = contact.tags
    active = contact.active
    geo = contact.geo
  }
}

struct ContactMapper: EntityMapper {
  func convert(_ entity: Contact) -> ContactModel? { ContactModel(entity) }

  func newEntity(for model: ContactModel) -> Contact {
    Contact(
      id: model.id, name: "", phone: "", address: "", city: "", order: 0, balance: 0, updatedAt: 0,
      tags: [], active: false, geo: nil)
  }

  func update(_ entity: inout Contact, by model: ContactModel) {
    entity.name = model.name
    entity.phone = model.phone
    entity.address = model.address
    entity.city = model.city
    entity.order = model.order
    entity.balance = model.balance
    entity.updatedAt = model.updatedAt
    entity.tags = model.tags
    entity.active = model.active
    entity.geo = model.geo
  }

  func entityAccessorKey(_ model: ContactModel) -> String { model.id }
}
