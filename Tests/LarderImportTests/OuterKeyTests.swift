import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

@Suite("Keys that stand around values in a file")
struct OuterKeyTests {
  private func refusal(
    of text: String, into store: Store, shape: JSONShape = .automatic, makesKeys: Bool = false
  ) -> ImportError? {
    var options = ImportOptions()
    options.shape = shape
    options.makesKeys = makesKeys
    return #expect(throws: ImportError.self) {
      try store.importDocuments(
        from: .text(text, name: "t.json"), into: "c", key: "id", options: options)
    }
  }

  @Test(
    "keys of documents are not lost for keys that are made",
    arguments: [JSONShape.automatic, .keyed])
  func made(shape: JSONShape) throws {
    try withTemporaryStore { store in
      let error = refusal(
        of: "{\n\"anna\": {\"x\": 1},\n\"bo\": {\"x\": 2}}", into: store, shape: shape,
        makesKeys: true)

      let names = try store.collectionNames()
      #expect(error?.kind == .value && error?.line == 2)
      #expect(error?.found == "a document under the key `anna`")
      #expect(names.isEmpty)
    }
  }
}
