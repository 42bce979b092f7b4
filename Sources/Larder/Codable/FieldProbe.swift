#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What only a `Codable` type's own `init(from:)` can tell: which of its fields it cannot do
/// without, and which is the key. Found out with a document from which a field is taken, or in
/// which it is changed, when fields are declared.
struct FieldProbe {
  private(set) var requiredFields: [String] = []
  /// The field that is the entity-accessor key; nil where the key is computed.
  private(set) var keyField: String?

  /// - Parameter binding: For documents without a type, with all fields of the model.
  init<Model: Codable & Identifiable & Sendable>(
    _ model: Model, _ binding: CollectionBinding
  ) where Model.ID: DocumentKey {
    guard let document = Self.document(of: model, binding) else { return }
    for field in document.fields {
      var without = document
      without[field.name] = nil
      if case .failure(.field(field.name, .missing)) = Self.model(Model.self, without, binding) {
        requiredFields.append(field.name)
      }
      if keyField == nil, Self.isKey(field, of: document, model, binding) { keyField = field.name }
    }
  }

  private static let noKey: [UInt8] = []

  private static func document<Model: Codable & Identifiable & Sendable>(
    of model: Model, _ binding: CollectionBinding
  ) -> DynamicDocument? where Model.ID: DocumentKey {
    var writer = RecordWriter(binding: binding)
    writer.beginDocument()
    CodableDocument(model).encode(into: &writer)
    // What cannot be encoded says so when it is saved.
    guard let range = try? noKey.withUnsafeBytes({ try writer.endDocument(key: $0) }) else {
      return nil
    }
    return writer.withBytes { bytes in
      let record = UnsafeRawBufferPointer(rebasing: bytes[range])
      return try? DynamicDocument(record: record, binding: binding)  // Just written.
    }
  }

  /// Whether the key follows the field: it is equal to it, and when the field is changed the key is
  /// changed to the same.
  private static func isKey<Model: Codable & Identifiable & Sendable>(
    _ field: DynamicDocument.Field, of document: DynamicDocument, _ model: Model,
    _ binding: CollectionBinding
  ) -> Bool where Model.ID: DocumentKey {
    let kind = Model.ID.keyKind
    guard field.value.encodedKey(of: kind) == model.id.withEncodedKey({ [UInt8]($0) }),
      let other = field.value.otherKey
    else { return false }
    var changed = document
    changed[field.name] = other
    guard case .success(let probe) = self.model(Model.self, changed, binding) else { return false }
    return other.encodedKey(of: kind) == probe.id.withEncodedKey { [UInt8]($0) }
  }

  private static func model<Model: Codable & Identifiable & Sendable>(
    _ type: Model.Type, _ document: DynamicDocument, _ binding: CollectionBinding
  ) -> Result<Model, RecordError> where Model.ID: DocumentKey {
    var writer = RecordWriter(binding: binding)
    writer.isRehearsing = true
    let range: Range<Int>
    do {
      range = try noKey.withUnsafeBytes { try writer.putDocument(document, key: $0) }
    } catch {
      return .failure(.invalid("\(error)"))
    }
    return writer.withBytes { bytes in
      Result { () throws(RecordError) in
        let record = try RecordReader(
          UnsafeRawBufferPointer(rebasing: bytes[range.dropLast(RecordFormat.checksumByteCount)]),
          binding: binding, schema: binding.root, depth: 1)
        return try CodableDocument<Model>(from: record).model
      }
    }
  }
}

extension Value {
  /// Another key of the same kind, and much like this one: a type may take only some.
  fileprivate var otherKey: Value? {
    switch self {
    case .string(let text): text.other.map(Value.string)
    case .integer(let number): .integer(number ^ 1)
    case .unsigned(let number): .unsigned(number ^ 1)
    case .uuid(let id): .uuid(id == Self.someID ? UUID() : Self.someID)
    default: nil
    }
  }

  private static var someID: UUID {
    UUID(uuid: (7, 7, 7, 7, 7, 7, 0x40, 7, 0x80, 7, 7, 7, 7, 7, 7, 7))
  }
}

extension String {
  /// Another text with the same letters and digits in nearly the same places: the last one is
  /// another, and the first letter is large where it was small, which no type leaves as it is that
  /// makes its keys of one case. nil for a text without either.
  fileprivate var other: String? {
    var characters = Array(self)
    guard
      let last = characters.lastIndex(where: { $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return nil }
    characters[last] =
      switch characters[last] {
      case "0"..."8", "a"..."e", "A"..."E", "g"..."y", "G"..."Y":
        Character(UnicodeScalar(characters[last].asciiValue.map { $0 + 1 } ?? 0x30))
      case "9": "0"
      case "f": "a"
      case "F": "A"
      case "z": "g"
      default: "G"
      }
    if let first = characters.firstIndex(where: { $0.isASCII && $0.isLetter }) {
      let letter = characters[first]
      characters[first] = Character(letter.isLowercase ? letter.uppercased() : letter.lowercased())
    }
    return String(characters)
  }
}
