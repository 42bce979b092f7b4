package import Larder

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Single documents as JSON, as they go to a remote and come from it: the text that an export writes, and
/// an import reads.
package struct DocumentExchange: Sendable {
  private let collection: String
  private let keyField: String
  private let keyKind: KeyKind?
  private let place: FieldPlace?

  /// - Parameters:
  ///   - keyKind: How the keys are encoded, where that is known.
  ///   - place: What the catalogue knows of the documents.
  package init(collection: String, keyField: String, keyKind: KeyKind?, place: FieldPlace?) {
    self.collection = collection
    self.keyField = keyField
    self.keyKind = keyKind
    self.place = place
  }

  /// The document that a text is, of the kinds that the catalogue knows.
  ///
  /// - Parameter key: The key that it stands under, for documents that lack their key field.
  /// - Throws: ``ImportError`` for text that is no document of the collection.
  package func document(_ json: Data, key: String) throws(ImportError) -> DynamicDocument {
    let name = "\(collection)/\(key)"
    var documents = JSONDocuments(
      ByteSource(bytes: [UInt8](json), name: name), shape: .sequence)
    guard var read = try documents.next(), try documents.next() == nil else {
      throw ImportError(
        .value, file: name, position: .start, found: "no document, or several",
        expected: "one JSON object")
    }
    read.key = read.key ?? ownSpelling(of: key)
    let conversion = DocumentConversion(
      file: name, keyField: keyField, keyKind: keyKind, place: place)
    return try conversion.document(read)
  }

  /// A number that a server spells otherwise is that number: whoever calls has asked whether it may.
  private func ownSpelling(of key: String) -> String {
    switch keyKind.flatMap({ Value(keyText: key, kind: $0) }) {
    case .integer(let number)?: "\(number)"
    case .unsigned(let number)?: "\(number)"
    default: key
    }
  }

  /// The text of a document.
  package func json(_ document: DynamicDocument) -> Data {
    Data(JSONOutput.text(of: document, in: place).utf8)
  }
}
