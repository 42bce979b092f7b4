import Foundation
import Larder
import LarderModels

// The sellers' contacts of `Mappers.md`, which shows this file and `SellerContactsService.swift`.

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

  /// Every save writes the fields that the server sends.
  func update(_ entity: inout SellerContactEntity, by model: SellerContact) {
    entity.name = model.name
    entity.city = model.city
    entity.phone = model.phone
    // `isBlocked` is in no model: what is stored stays.
  }

  /// An edit also writes the field that only the user changes.
  func update(
    _ entity: inout SellerContactEntity, by model: SellerContact, as origin: ChangeOrigin
  ) {
    update(&entity, by: model)
    if origin == .local { entity.isFavourite = model.isFavourite }
  }

  func entityAccessorKey(_ model: SellerContact) -> String { model.id }
}

extension SellerContactMapper {
  func query(for request: SellerContactsRequest) -> Query<SellerContactEntity> {
    switch request {
    case .everyone: SellerContactEntity.all.sorted(by: \.name)
    case .inCity(let city): SellerContactEntity.where { $0.city == city }.sorted(by: \.name)
    }
  }
}

func sellers(in store: Store, server: @escaping @Sendable () async throws -> [SellerContact])
  async throws -> [SellerContact]
{
  let mapper = SellerContactMapper()
  let contacts = store.repository(of: SellerContactEntity.self, mappedBy: mapper)
  let service = SellerContactsService(contacts: contacts.hidingEntity(mapper.query(for:)))

  // Takes what the server has, and puts it in the repository in one transaction: a refresh.
  try await contacts.save(
    try await server(), clearBeforeSaving: SellerContactEntity.all, as: .sync)

  // The user picks a favourite: an edit.
  try await service.markAsFavourite("seller-1")

  // The next answer of the server changes the fields that it sends, and leaves the favourite alone.
  let report = try await contacts.save(
    try await server(), clearBeforeSaving: SellerContactEntity.all, as: .sync)
  print(report)  // 0 inserted, 0 updated, 2 unchanged, 0 deleted
  return try service.inCity("Oslo")
}
