import Foundation
import Larder
import LarderTesting
import Testing

/// What the article `Evolution` shows.
@Suite struct EvolutionArticleTests {
  @Test("the article's steps do what it says")
  func steps() async throws {
    try await withTemporaryStore { store in
      try store.collection("Contact").save(
        [
          ["id": "a", "order": "7", "tel": "+47", "name": "A"],
          ["id": "b", "order": "none", "tel": "", "name": "B"],
          ["id": "c", "order": "1", "tel": "", "name": ""],
        ], keyField: "id")

      try await store.migrate(Contact.self, to: 2) { contact in
        if case .string(let text) = contact["order"] {
          contact["order"] = .integer(Int64(text) ?? 0)
        }
      }
      try await store.migrate(Contact.self, to: 3) { contact in
        contact.rename("tel", to: "phone")
        if contact["name"] == "" { contact.delete() }
      }
      try await store.migrate(to: 2) { tx in
        try tx.rename(store.collection("Contact"), to: "Person")
      }

      let people = store.collection("Person")
      #expect(try people.get("a") == ["id": "a", "order": 7, "phone": "+47", "name": "A"])
      #expect(try people.get("b") == ["id": "b", "order": 0, "phone": "", "name": "B"])
      #expect(try people.count() == 2)
      #expect(try people.version() == 3)
      #expect(try store.version() == 2)
    }
  }
}
