#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What an engine asks of a collection.
package struct CollectionOutline: Sendable {
  package let keyField: String?
  package let keyKind: KeyKind
  package let place: FieldPlace
  package let isSynced: Bool

  init(_ collection: Collection) {
    keyField = collection.description.keyField
    keyKind = collection.keyKind
    place = FieldPlace(collection.tables, table: collection.documentTable)
    isSynced = collection.description.isSynced
  }

  /// The key that a text means; nil where it means none.
  package func key(_ text: String) -> [UInt8]? {
    Value(keyText: text, kind: keyKind)?.encodedKey(of: keyKind)
  }

  /// The value of a key; nil for bytes that are none.
  package func value(_ key: [UInt8]) -> Value? { key.withUnsafeBytes { keyKind.value(of: $0) } }

  /// The text of a key.
  package func text(_ key: [UInt8]) -> String {
    value(key)?.keyText ?? ""
  }

  /// A key as errors name it: texts and UUIDs in quotes.
  package func described(_ key: [UInt8]) -> String {
    key.withUnsafeBytes { keyKind.text(of: $0) }
  }

  /// The key that an error names so; nil where it names none.
  func key(described text: String) -> [UInt8]? {
    let plain: String? =
      switch keyKind {
      case .string, .uuid: try? JSONDecoder().decode(String.self, from: Data(text.utf8))
      case .integer, .unsigned: text
      }
    return plain.flatMap { key($0) }
  }

  /// The key that a document has in its key field; nil where it has none.
  package func key(of document: DynamicDocument) -> [UInt8]? {
    keyField.flatMap { document[$0]?.encodedKey(of: keyKind) }
  }
}

extension Value {
  /// A key as text, as `init(keyText:kind:)` reads it; nil for what is no key.
  package var keyText: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .unsigned(let number): "\(number)"
    case .uuid(let id): id.uuidString.lowercased()
    default: nil
    }
  }
}
