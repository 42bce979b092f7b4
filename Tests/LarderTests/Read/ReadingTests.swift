import Foundation
import Larder
import LarderTesting
import Testing

/// A write reads as a snapshot does, and sees what it has written so far.
@Suite struct ReadingTests {
  /// The answers of every read, by name.
  private struct Answers {
    var texts: [String: String] = [:]

    mutating func add(_ name: String, _ answer: some Any) { texts[name] = "\(answer)" }
  }

  private let all = Purchase.all.sorted(by: \.amount, .reverse)
  private let ofB = Purchase.where { $0.contactID == "b" }

  /// What the reads of ``Reading`` give.
  private func answers(_ moment: borrowing some Reading & ~Copyable) throws -> Answers {
    var answers = Answers()
    answers.add("get", try moment.get(Contact.self, "b") as Any)
    answers.add("get keys", try moment.get(Contact.self, keys: ["d", "b", "a"]))
    answers.add("fetch", try moment.fetch(all))
    answers.add("fetch by an index", try moment.fetch(ofB))
    answers.add("count", try moment.count(Purchase.all))
    answers.add("count by an index", try moment.count(ofB))
    try addModels(of: moment, to: &answers)
    try addPages(of: moment, to: &answers)
    try addAggregates(of: moment, to: &answers)
    try addViews(of: moment, to: &answers)
    try addRelated(of: moment, to: &answers)
    answers.add("explain", try ofB.explain(in: moment))
    return answers
  }

  private func addModels(
    of moment: borrowing some Reading & ~Copyable, to answers: inout Answers
  ) throws {
    let mapper = SampleMapper()
    answers.add("get model", try moment.get("a", mappedBy: mapper) as Any)
    answers.add("fetch models", try moment.fetch(Sample.all.offset(1), mappedBy: mapper))
    answers.add("count models", try moment.count(Sample.all, mappedBy: mapper))
    answers.add("page of models", try moment.page(Sample.all.limit(2), mappedBy: mapper).models)
  }

  private func addPages(
    of moment: borrowing some Reading & ~Copyable, to answers: inout Answers
  ) throws {
    let first = try moment.page(all.limit(2))
    answers.add("page", first.models)
    answers.add("next page", try moment.page(all.limit(2), after: first.next).models)
  }

  private func addAggregates(
    of moment: borrowing some Reading & ~Copyable, to answers: inout Answers
  ) throws {
    answers.add("sum", try moment.aggregate(.sum(\.amount), of: Purchase.all))
    answers.add("maximum by an index", try moment.aggregate(.max(\.contactID), of: Purchase.all))
    answers.add(
      "counts by an index", try moment.aggregate(.counts(by: \.contactID), of: Purchase.all))
    answers.add("keys by an index", try moment.aggregate(.keys(), of: ofB))
  }

  private func addViews(
    of moment: borrowing some Reading & ~Copyable, to answers: inout Answers
  ) throws {
    answers.add("view", try moment.view(Purchase.self, 1) { try $0.amount } as Any)
    var amounts: [Int] = []
    try moment.forEachView(all.limit(2)) { view in
      amounts.append(try view.amount)
      return true
    }
    answers.add("views", amounts)
    var purchases: [Purchase] = []
    try moment.forEach(all) { purchase in
      purchases.append(purchase)
      return purchases.count < 2
    }
    answers.add("iteration", purchases)
  }

  private func addRelated(
    of moment: borrowing some Reading & ~Copyable, to answers: inout Answers
  ) throws {
    let documents = try moment.documents(Contact.self, keys: ["d", "b"])
    answers.add("documents", documents.sorted { $0.key < $1.key })
    answers.add("one", try moment.fetch(all, including: \.contactID, of: Contact.self))
    answers.add("one or none", try moment.fetch(all, including: \.giftFor, of: Contact.self))
    answers.add("several", try moment.fetch(all, including: \.helperIDs, of: Contact.self))
    answers.add("collected", try moment.fetch(Contact.all, collecting: all, by: \.contactID))
    answers.add("collected by nil", try moment.fetch(Contact.all, collecting: all, by: \.giftFor))
  }

  @Test("every read gives inside a write what a snapshot gives after it, and not what was before")
  func reads() throws {
    try withTemporaryStore { store in
      try store.write { tx in
        try tx.save(["a", "b", "c"].map { Contact(id: $0, name: "N\($0)") })
        try tx.save([
          Purchase(id: 1, contactID: "b", giftFor: "a", helperIDs: ["c", "a"], amount: 30),
          Purchase(id: 2, contactID: "c", amount: 10),
          Purchase(id: 3, contactID: "b", amount: 5),
        ])
        try tx.save(["a", "b", "c"].map { Sample(id: $0, isHidden: $0 == "b") })
      }
      let before = try store.read { try answers($0) }

      let inside = try store.write { tx in
        try tx.save([Contact(id: "b", name: "changed"), Contact(id: "d", name: "new")])
        try tx.delete(Contact.self, "c")
        try tx.save([
          Purchase(id: 1, contactID: "b", giftFor: "b", helperIDs: ["d"], amount: 31),
          Purchase(id: 4, contactID: "d", giftFor: "d", helperIDs: ["b"], amount: 40),
          Purchase(id: 5, contactID: "b", amount: 20),
        ])
        try tx.delete(Purchase.where { $0.amount == 5 })
        try tx.delete(Purchase.self, 2)
        try tx.save([Purchase(id: 6, contactID: "b", amount: 1)])
        try tx.save([
          Sample(id: "a", group: "changed"), Sample(id: "d"), Sample(id: "e"), Sample(id: "f"),
        ])
        return try answers(tx)
      }

      let after = try store.read { try answers($0) }
      #expect(inside.texts.count == 26)
      for (name, text) in after.texts {
        #expect(inside.texts[name] == text, "\(name)")
        #expect(before.texts[name] != text, "\(name)")
      }
      // A snapshot has these in a form that is specialised for the type.
      let specialised = try store.read { snapshot in
        var answers = Answers()
        answers.add("get", try snapshot.get(Contact.self, "b") as Any)
        answers.add("get keys", try snapshot.get(Contact.self, keys: ["d", "b", "a"]))
        answers.add("fetch", try snapshot.fetch(all))
        return answers
      }
      for (name, text) in specialised.texts { #expect(inside.texts[name] == text, "\(name)") }
    }
  }

  @Test("what a write reads of a collection that it makes itself is there")
  func newCollection() throws {
    try withTemporaryStore { store in
      let (count, page, sum) = try store.write { tx in
        try tx.save([Purchase(id: 1, contactID: "a", amount: 2)])
        return (
          try tx.count(ofB), try tx.page(all.limit(1)).models.map(\.id),
          try tx.aggregate(.sum(\.amount), of: Purchase.all)
        )
      }

      #expect(count == 0)
      #expect(page == [1])
      #expect(sum == 2)
    }
  }
}
