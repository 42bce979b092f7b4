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
  /// The key of a value that has another one when it is decoded.
  private(set) var lostKey: String?

  /// - Parameter binding: For documents without a type, with all fields of the model.
  init<Model: Codable & Identifiable & Sendable>(
    _ model: Model, _ binding: CollectionBinding
  ) where Model.ID: DocumentKey {
    let kind = Model.ID.keyKind
    let key = model.id.withEncodedKey { [UInt8]($0) }
    // What cannot be encoded says so when it is saved.
    guard let document = try? Self.document(of: CodableDocument(model), binding) else { return }
    if let read = try? Self.model(Model.self, of: document, binding),
      read.id.withEncodedKey({ [UInt8]($0) }) != key
    {
      lostKey = key.withUnsafeBytes { kind.text(of: $0) }
      return
    }
    for field in document.fields {
      var changed = document
      changed[field.name] = nil
      do throws(RecordError) {
        _ = try Self.model(Model.self, of: changed, binding)
      } catch .field(field.name, .missing) {
        requiredFields.append(field.name)
      } catch {}  // Fields that it needs only because of others are not told.
      // The key's field is equal to it, and whatever the field is changed to, the key is changed to the same. A type
      // that stores its `id` may take only some, or make others of them.
      guard keyField == nil, field.value.encodedKey(of: kind) == key else { continue }
      let others = field.value.otherKeys
      let answers = others.prefix(field.name == "id" ? 1 : others.count).compactMap {
        other -> Bool? in
        changed[field.name] = other
        // A type may take only some values.
        guard let model = try? Self.model(Model.self, of: changed, binding) else { return nil }
        return model.id.withEncodedKey { [UInt8]($0) } == other.encodedKey(of: kind)
      }
      // Where it takes no other, as an enum does, the name tells: a computed `id` is not stored.
      if answers.isEmpty ? field.name == "id" : !answers.contains(false) { keyField = field.name }
    }
  }

  private static let noKey: [UInt8] = []

  private static func document(
    of entity: some Document, _ binding: CollectionBinding
  ) throws -> DynamicDocument {
    var writer = RecordWriter(binding: binding)
    writer.beginDocument()
    entity.encode(into: &writer)
    let range = try noKey.withUnsafeBytes { try writer.endDocument(key: $0) }
    return try writer.withBytes {
      try DynamicDocument(record: UnsafeRawBufferPointer(rebasing: $0[range]), binding: binding)
    }
  }

  private static func model<Model: Decodable>(
    _ type: Model.Type, of document: DynamicDocument, _ binding: CollectionBinding
  ) throws(RecordError) -> Model {
    var writer = RecordWriter(binding: binding)
    writer.isRehearsing = true
    do {
      let range = try noKey.withUnsafeBytes { try writer.putDocument(document, key: $0) }
      return try writer.withBytes { bytes in
        let record = range.dropLast(RecordFormat.checksumByteCount)
        return try RecordReader(
          UnsafeRawBufferPointer(rebasing: bytes[record]), binding: binding,
          schema: binding.root, depth: 1
        ).document(coding: type)
      }
    } catch {
      throw error as? RecordError ?? .invalid("\(error)")
    }
  }
}

extension Value {
  /// Other keys of the same kind: one that is much like this one, as a type may take only some, and such that a
  /// type which computes its keys is likely to change.
  fileprivate var otherKeys: [Value] {
    switch self {
    case .string(let text): text.others.map(Value.string)
    case .integer(let number): [.integer(number ^ 1)]
    case .unsigned(let number): [.unsigned(number ^ 1)]
    case .uuid: [.uuid(UUID())]
    default: []
    }
  }
}

extension String {
  /// Other texts: one like it, in both cases, with spaces and signs between, and a long one.
  fileprivate var others: [String] {
    let likeIt = other ?? self + "a"
    return [
      likeIt, likeIt.uppercased(), likeIt.lowercased(), likeIt + " Zz-é_/." + likeIt + " ",
      likeIt + String(repeating: "q", count: 60),
    ]
  }

  /// Another text with the same letters and digits in nearly the same places: the last one is
  /// another, and the first letter is large where it was small, which no type leaves as it is that
  /// makes its keys of one case. nil for a text without either.
  fileprivate var other: String? {
    var characters = Array(self)
    guard
      let last = characters.lastIndex(where: { $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return nil }
    let likeIt: (Character, Character) =
      characters[last].isNumber
      ? ("0", "1") : characters[last].isLowercase ? ("a", "b") : ("A", "B")
    characters[last] = characters[last] == likeIt.0 ? likeIt.1 : likeIt.0
    if let first = characters.firstIndex(where: { $0.isASCII && $0.isLetter }) {
      let letter = characters[first]
      characters[first] = Character(letter.isLowercase ? letter.uppercased() : letter.lowercased())
    }
    return String(characters)
  }
}
