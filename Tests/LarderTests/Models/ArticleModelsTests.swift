import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct ArticleModelsTests {
  @Test("the models in the article are the ones that are tested")
  func isTheSame() throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let source = try String(
      contentsOf: here.appending(path: "ArticleModels.swift"), encoding: .utf8)
    let article = try String(
      contentsOf: here.appending(
        path: "../../../Sources/Larder/Documentation.docc/Models.md"
      ).standardizedFileURL, encoding: .utf8)

    let shown = article.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }

    #expect(shown.count == 2)
    for code in shown { #expect(source.contains(code), "\(code)") }
  }

  @Test("the article's model comes back, without what is transient")
  func seller() throws {
    var seller = Seller(
      id: "a", name: "Åse", phone: "22", city: "Oslo", email: "a@b", tags: ["x"], rank: .trusted,
      address: SellerAddress(street: "Karl Johans gate"), hours: .between(8, and: 16),
      isSelected: true)

    try withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try sellers.save(seller)

      seller.isSelected = false
      #expect(try sellers.get("a") == seller)
      #expect(try sellers.fetch(Seller.where { $0.rank == .trusted }) == [seller])
      #expect(throws: StoreError.self) {
        try sellers.save(Seller(id: "b", name: "B", city: "Oslo", email: "a@b"))
      }
    }
  }

  @Test("the article's model by hand comes back")
  func crate() throws {
    let crate = Crate(number: 1, weight: 2.5, slot: Slot(shelf: 3), state: .sent(to: "Oslo"))

    #expect(try stored(crate) == crate)
  }
}
