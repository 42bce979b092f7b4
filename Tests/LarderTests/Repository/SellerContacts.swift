import Foundation
import Larder

// The sellers' contacts of `Mappers.md`, which shows this file.

/// What the app works with. It knows nothing of storage.
struct SellerContact: Sendable, Equatable {
  var id: String
  var name: String
  var city: String
  var phone: String?
  /// What the user put in; no server sends it.
  var isFavourite = false
}

/// What is stored.
@Document
struct SellerContactEntity: Equatable {
  var id: String
  var name = ""
  @Indexed var city = ""
  var phone: String?
  var isFavourite = false
  var isBlocked = false
}

/// What stands between the two.
struct SellerContactMapper: EntityMapper {
  func convert(_ entity: SellerContactEntity) -> SellerContact? {
    if entity.isBlocked { return nil }  // Stored, and shown to nobody.
    return SellerContact(
      id: entity.id, name: entity.name, city: entity.city, phone: entity.phone,
      isFavourite: entity.isFavourite)
  }

  func newEntity(for model: SellerContact) -> SellerContactEntity {
    SellerContactEntity(id: model.id)
  }

  func update(_ entity: inout SellerContactEntity, by model: SellerContact) {
    entity.name = model.name
    entity.city = model.city
    entity.phone = model.phone
    // `isFavourite` and `isBlocked` are the device's own: what is stored stays.
  }

  func entityAccessorKey(_ model: SellerContact) -> String { model.id }
}

/// A part of the app that is handed its repository, and does not know where it keeps things.
struct SellerContactsService: Sendable {
  let contacts: any Repository<SellerContact, SellerContactEntity>

  func inCity(_ city: String) throws -> [SellerContact] {
    try contacts.fetch(SellerContactEntity.where { $0.city == city }.sorted(by: \.name))
  }
}

func sellers(in store: Store, server: @escaping @Sendable () async throws -> [SellerContact])
  async throws -> [SellerContact]
{
  let contacts = store.repository(of: SellerContactEntity.self, mappedBy: SellerContactMapper())
  let service = SellerContactsService(contacts: contacts)

  // Takes what the server has, and puts it in the repository in one transaction.
  let provider = DataProvider(contacts, source: server)
  try await provider.refresh(clearBeforeSaving: SellerContactEntity.all)

  // The user picks a favourite, which only the device knows.
  try await store.write { tx in
    try tx.update(SellerContactEntity.self, "seller-1") { $0.isFavourite = true }
  }

  // The next answer of the server changes what it knows of, and leaves the favourite alone.
  let report = try await provider.refresh(clearBeforeSaving: SellerContactEntity.all)
  print(report)  // 0 inserted, 0 updated, 2 unchanged, 0 deleted
  return try service.inCity("Oslo")
}
