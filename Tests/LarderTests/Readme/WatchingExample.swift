import Larder

// The code of the article "Watching", which a test compares with it.

func watchTogether(_ store: Store, show: ([String]) throws -> Void) async throws {
  let overview = store.watch { snapshot in
    try snapshot.fetch(Contact.all.sorted(by: \.name)).map { contact in
      let count = try snapshot.count(Purchase.where { $0.contactID == contact.id })
      return "\(contact.name): \(count)"
    }
  }
  for try await lines in overview.removeDuplicates() { try show(lines) }
}
