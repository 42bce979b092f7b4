import LarderModels

// The part of the sellers' contacts in `Mappers.md` that knows nothing of storage: it does not import
// Larder.

/// What the app works with.
struct SellerContact: Identifiable, Sendable, Equatable {
  var id: String
  var name: String
  var city: String
  var phone: String?
  /// What the user put in; no server sends it.
  var isFavourite = false
}

/// What the app asks for.
enum SellerContactsRequest: Sendable {
  case everyone
  case inCity(String)
}

/// A part of the app that is handed its repository, and does not know where it keeps things.
struct SellerContactsService: Sendable {
  let contacts: any ModelRepository<SellerContact, SellerContactsRequest>

  func inCity(_ city: String) throws -> [SellerContact] { try contacts.fetch(.inCity(city)) }

  func markAsFavourite(_ id: String) async throws {
    try await contacts.update(id) { $0.isFavourite = true }
  }
}
