import LarderTesting
import Testing

@testable import Larder

@Document(as: "Letter") private struct FirstLetter: Equatable {
  var id: Int
  var text: String
  var seal: FirstSeal?
}

@EmbeddedDocument private struct FirstSeal: Equatable {
  var wax: String
  var depth: Int
}

@Document(as: "Letter") private struct SecondLetter: Equatable {
  var id: Int
  var seal: SecondSeal?
}

@EmbeddedDocument private struct SecondSeal: Equatable {
  var wax: String
}

/// Fields without a default that a later version of a type does not have.
@Suite struct LeftOutFieldTests {
  @Test(
    "what a later type does not have need not be in documents without a type",
    arguments: [true, false])
  func leftOut(isOpenedWithTypes: Bool) throws {
    try withTemporaryStore { store in
      let letters = store.collection("Letter")
      try store.declare([FirstLetter.self])
      let lacking: DynamicDocument = ["id": 1, "seal": .document(["wax": "red"])]
      #expect(throws: StoreError.self) { try letters.save([lacking]) }
      #expect(try letters.count() == 0)

      if isOpenedWithTypes {
        try store.declare([SecondLetter.self])
      } else {
        try store.repository(of: SecondLetter.self).save(SecondLetter(id: 2, seal: nil))
      }

      try letters.save([lacking])
      #expect(
        try store.repository(of: SecondLetter.self).get(1)
          == SecondLetter(id: 1, seal: SecondSeal(wax: "red")))
      // What both have is still required.
      #expect(throws: StoreError.self) {
        try letters.save([["id": 3, "seal": .document(["depth": 4])]])
      }
      // The first version, where it is used again, says what it misses.
      #expect(throws: StoreError.self) { try store.repository(of: FirstLetter.self).get(1) }
      try store.repository(of: FirstLetter.self).save(FirstLetter(id: 4, text: "a", seal: nil))
      try letters.save([["id": 5]])
      #expect(try letters.count() >= 3)
    }
  }

  @Test("an error about a field that is missing does not advise to leave it out")
  func advice() throws {
    try withTemporaryStore { store in
      try store.declare([FirstLetter.self])
      let error = #expect(throws: StoreError.self) {
        try store.collection("Letter").save([["id": 1]])
      }
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains("found nothing"))
      #expect(!text.contains("leave it out"))
      #expect(text.contains("default"))
    }
  }
}
