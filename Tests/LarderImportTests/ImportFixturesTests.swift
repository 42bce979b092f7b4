import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

@Suite("Importing the fixtures")
struct ImportFixturesTests {
  @Test("contacts come back typed, every field as the file has it")
  func typedContacts() throws {
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: Fixtures.source("contacts.json"), into: Contact.self)

      #expect(report.documentCount == 355)
      #expect(report.saved.inserted == 355 && report.saved.changed == 355)
      #expect(report.byteCount == 142_021)
      let contacts = store.repository(of: Contact.self)
      for object in try Fixtures.objects("contacts.json") {
        let id = try #require(object["id"] as? String)
        let contact = try #require(try contacts.get(id))
        // Foundation drops a byte order mark at the beginning of a string.
        let name = contact.name.unicodeScalars.drop { $0 == "\u{FEFF}" }
        #expect(bytes(String(name)) == bytes(object["name"] as? String))
        #expect(contact.phone == object["tel"] as? String)
        #expect(contact.order == (object["order"] as? NSNumber)?.intValue)
        #expect(contact.balance == (object["balance"] as? NSNumber)?.doubleValue)
        #expect(ISO8601.date(from: object["updatedAt"] as? String ?? "") == contact.updatedAt)
        #expect(contact.tags.map(bytes) == (object["tags"] as? [String])?.map(bytes))
        #expect(contact.isActive == (object["active"] as? NSNumber)?.boolValue)
        let geo = object["geo"] as? [String: Any]
        // Foundation rounds 0.30000000000000004 wrongly.
        let latitude = (geo?["lat"] as? NSNumber)?.doubleValue ?? 0
        #expect(abs((contact.geo?.lat ?? 0) - latitude) <= latitude.ulp * 2)
        #expect(contact.geo?.lon == (geo?["lon"] as? NSNumber)?.doubleValue)
        #expect(contact.geo?.label == geo?["label"] as? String)
        #expect(bytes(contact.note) == bytes(object["note"] as? String))
      }
      #expect(try contacts.get("hard-minus-zero")?.balance.sign == .minus)
      #expect(try contacts.get("hard-spread")?.order == 0)
      #expect(try contacts.get("hard-integer-beyond-double")?.order == 9_007_199_254_740_993)
    }
  }

  @Test("books come back typed: decimals to the last digit, dates, an embedded document")
  func typedBooks() throws {
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: Fixtures.source("books.ndjson"), into: Book.self)

      #expect(report.saved.inserted == 250)
      let books = store.repository(of: Book.self)
      for object in try Fixtures.objects("books.ndjson") {
        let isbn = try #require(object["isbn"] as? String)
        let book = try #require(try books.get(isbn))
        #expect(book.title == object["title"] as? String)
        #expect(book.price == Decimal(string: object["price"] as? String ?? ""))
        #expect((book.published == nil) == (object["published"] is NSNull))
        #expect(book.rating == (object["rating"] as? NSNumber)?.doubleValue)
        #expect(book.publisher.city == (object["publisher"] as? [String: Any])?["city"] as? String)
      }
    }
  }

  @Test("without a type the same values come back, and integers stay integers in spite of -0")
  func dynamic() throws {
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: Fixtures.source("contacts.json"), into: "contacts", key: "id")

      #expect(report.saved.inserted == 355)
      let kinds = Dictionary(uniqueKeysWithValues: report.inferredFields.map { ($0.name, $0.kind) })
      #expect(kinds["order"] == "int64" && kinds["balance"] == "double")
      #expect(kinds["note"] == "string?" && kinds["geo"] == "document?")
      let contacts = store.collection("contacts")
      #expect(try contacts.count() == 355)
      let document = try #require(try contacts.get("hard-integer-beyond-double"))
      #expect(document["order"] == 9_007_199_254_740_993)
      #expect(try contacts.get("hard-spread")?["order"] == 0)
    }
  }

  @Test("importing again changes nothing and writes nothing", arguments: [true, false])
  func again(isTyped: Bool) throws {
    try withTemporaryStore { store in
      func importContacts(_ name: String) throws -> ImportReport {
        isTyped
          ? try store.importDocuments(from: Fixtures.source(name), into: Contact.self)
          : try store.importDocuments(from: Fixtures.source(name), into: "c", key: "id")
      }
      _ = try importContacts("contacts.json")
      let before = try store.statistics().lasting

      let again = try importContacts("contacts.json")
      let keyed = try importContacts("contacts-keyed.json")

      #expect(again.saved.unchanged == 355 && again.saved.changed == 0)
      #expect(keyed.documentCount == 30)
      #expect(keyed.saved.unchanged == 30 && keyed.saved.changed == 0)
      #expect(try store.statistics().lasting == before)
    }
  }

  @Test("atomically or in small batches, the same is saved", arguments: [true, false])
  func batches(atomically: Bool) throws {
    var options = ImportOptions()
    options.atomically = atomically
    options.batchDocumentCount = 7
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: Fixtures.source("books.ndjson"), into: "books", key: "isbn", options: options)

      #expect(report.saved.inserted == 250)
      #expect(try store.collection("books").count() == 250)
    }
  }

  @Test("a dry run says what would be and changes nothing")
  func dryRun() throws {
    var options = ImportOptions()
    options.isDryRun = true
    try withTemporaryStore { store in
      let before = try store.statistics().lasting

      let report = try store.importDocuments(
        from: Fixtures.source("books.ndjson"), into: Book.self, options: options)

      #expect(report.documentCount == 250)
      #expect(report.saved == SaveReport())
      #expect(report.inferredFields.isEmpty)
      #expect(try store.statistics().lasting == before)
    }
  }
}

private func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
