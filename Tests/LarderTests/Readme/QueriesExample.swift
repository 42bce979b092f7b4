import Foundation
import Larder

// The lines of the article on queries, as they stand there.

func conditions() -> [Query<Contact>] {
  let oslo = Contact.where { $0.city == "Oslo" && $0.order < 5 }
  let vips = Contact.where { $0.tags.contains("vip") || $0.name.hasPrefix("Bj") }
  let some = Contact.where { $0.city.isIn(["Oslo", "Bergen"]) && $0.order.isIn(...3) }
  let near = Contact.where { $0.geo.lat > 59 && $0.note == nil && !$0.isActive }
  let anyCase = Contact.where { $0.name.lowercased().contains("astrid") }
  let tagged = Contact.where { !$0.tags.isEmpty && $0.tags.count < 3 }
  let starts = Contact.where { $0.tags.contains { $0.hasPrefix("v") } }
  let named = Contact.where { $0.name == $0.city }

  let query = oslo.sorted(by: \.name).sorted(by: \.order, .reverse).limit(20)
  let lastNotes = Contact.all.sorted(by: \.note, nils: .last)
  let north = Contact.all.sorted(by: \.geo.lat, .reverse).sorted(by: \.tags.count)

  let bridged = Contact.matching(#Predicate { $0.city == "Oslo" && $0.order < 5 })
  return [
    oslo, vips, some, near, anyCase, tagged, starts, named, query, lastNotes, north, bridged,
  ]
}

func pages(_ contacts: StoreRepository<Contact>) throws -> [String] {
  var names: [String] = []
  var page = try contacts.page(Contact.all.sorted(by: \.name).limit(2))
  names += page.models.map(\.name)
  while let next = page.next {
    page = try contacts.page(Contact.all.sorted(by: \.name).limit(2), after: next)
    names += page.models.map(\.name)
  }
  return names
}

func aggregates(_ contacts: StoreRepository<Contact>) throws -> String {
  let oslo = Contact.where { $0.city == "Oslo" && $0.order < 5 }
  let total = try contacts.sum(\.order, of: oslo)
  let mean = try contacts.average(\.balance)
  let newest = try contacts.max(\.updatedAt)
  let cities = try contacts.distinct(\.city)
  let perCity = try contacts.counts(by: \.city).map { "\($0.key): \($0.value)" }
  let keys = try contacts.keys(of: oslo)
  return "\(total) \(mean ?? -1) \(newest == nil) \(cities) \(perCity) \(keys)"
}

func together(
  _ contacts: StoreRepository<Contact>, _ purchases: StoreRepository<Purchase>,
  print: (Int, String) -> Void
) throws -> String {
  let oslo = Contact.where { $0.city == "Oslo" && $0.order < 5 }
  for order in try purchases.fetch(Purchase.all, including: \.contactID, of: Contact.self) {
    print(order.model.amount, order.related?.name ?? "nobody")
  }
  let bought = try contacts.fetch(oslo, collecting: Purchase.all, by: \.contactID)
  let byCity = try contacts.sections(by: \.city, of: Contact.all.sorted(by: \.name))
  return "\(bought.map(\.related.count)) \(byCity.map(\.key))"
}

func cascade(_ id: String, _ store: Store) async throws {
  try await store.write { tx in
    try tx.delete(Purchase.where { $0.contactID == id })
    try tx.delete(Contact.self, id)
  }
}

func oneByOne(
  _ contacts: StoreRepository<Contact>, _ id: String, print: (String) -> Void,
  send: ([Contact]) async -> Void
) async throws -> String? {
  let oslo = Contact.where { $0.city == "Oslo" && $0.order < 5 }
  let name = try contacts.view(id) { contact in try contact.name }
  try contacts.forEach(oslo) { contact in
    print(contact.name)
    return contact.order < 3
  }
  for try await batch in contacts.batches(of: oslo, size: 500) { await send(batch) }
  return name
}
