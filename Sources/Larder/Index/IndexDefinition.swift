/// An index as the catalogue keeps it: whole, so that every writer can maintain it, whatever its
/// own types declare.
struct IndexDefinition: Sendable, Equatable {
  let collection: String
  let name: String
  let parts: [Part]
  let isUnique: Bool
  /// The condition for being in the index, encoded by `FilterNode.encoded()`; nil for all.
  let filter: [UInt8]?
  /// Of a search index, the weight of each part, 1 to ``maximumWeight``; nil for one of values.
  let weights: [UInt32]?
  /// The identifier of its tokenizer, of a search index that an app has given one; else nil.
  let tokenizer: String?
  /// Which normaliser was used for strings (``UnicodeStamp``), or which tokenizer in a search index
  /// (``TokenizerStamp``).
  let unicode: UInt32

  struct Part: Sendable, Equatable {
    /// Field names from the document down.
    let path: [String]
    let scalar: IndexScalar
    /// Whether the field is an array or a set, with an entry per element.
    let isMultiple: Bool
    let isDescending: Bool
    /// The encoded value of records that lack the field; its own tag where that is an error, and another where
    /// each process has another value (``FieldStep/isSettled``). In a search index, the text as it is; empty
    /// where there is none.
    let absent: [UInt8]
    /// The same for records that lack an embedded document on the way there, one for each of them from
    /// the outermost on: what its default has at the end of the path, or nil.
    let outerAbsent: [[UInt8]]

    /// ``outerAbsent`` where no embedded document on the way has a default.
    static func nothing(outside path: [String], _ isMultiple: Bool) -> [[UInt8]] {
      Array(repeating: isMultiple ? [] : [IndexTag.null], count: path.count - 1)
    }

    /// What the bytes of this part are complemented with.
    var mask: UInt8 { isDescending ? 0xFF : 0 }
  }

  static let maximumNameByteCount = 200
  static let maximumWeight: UInt32 = 100

  /// A type's declaration, with the kinds that the catalogue has for its fields.
  ///
  /// - Throws: ``StoreError/indexNotAllowed(collection:index:reason:)``.
  init(_ declaration: IndexDeclaration, in description: CollectionDescription) throws(StoreError) {
    func refuse(_ reason: String) -> StoreError {
      .indexNotAllowed(collection: description.name, index: declaration.name, reason: reason)
    }
    let place = declaration.place.map { " in \($0)" } ?? ""
    if declaration.parts.isEmpty { throw refuse("it names no field") }
    if declaration.name.utf8.count > Self.maximumNameByteCount {
      throw refuse("its name takes more than \(Self.maximumNameByteCount) bytes; give it one")
    }
    var parts: [Part] = []
    for part in declaration.parts {
      guard let operand = part.operand else {
        throw refuse(
          "it names \(part.subject)\(place), which is computed from what is stored, or stored in its "
            + "type's own coding. Store what the index is to hold in a property of its own, and name "
            + "that one")
      }
      let path = operand.map(\.name)
      guard let found = description.indexable(path) else {
        switch description.kind(at: path)?.unwrapped {
        case .null:
          throw refuse(
            "no document has a value in `\(path.joined(separator: "."))` yet, so that its kind is not known"
          )
        case .any:
          throw refuse(
            "`\(path.joined(separator: "."))` was stored by its type's `Codable` conformance, as a field of any kind. "
              + "Store it under another name, with `@Stored(as:)`, and take the values over in a migration"
          )
        default: break
        }
        throw refuse(
          "`\(path.joined(separator: "."))` is neither text, a number, a Bool, a date, a UUID, a "
            + "URL or data, nor an array or a set of these. "
            + description.insteadOfIndex(over: path))
      }
      let isOfWords = declaration.weights != nil
      if isOfWords, found.scalar != .string {
        throw refuse(
          "`\(path.joined(separator: "."))` is neither text nor an array or a set of texts")
      }
      let outer = operand.dropLast().compactMap {
        Self.absent(outside: $0, found, isOfWords: isOfWords)
      }
      guard let absent = Self.absent(operand[operand.count - 1], found, isOfWords: isOfWords),
        outer.count == path.count - 1
      else {
        throw refuse(
          "`\(path.joined(separator: "."))` is an array with a default that is not empty")
      }
      parts.append(
        Part(
          path: path, scalar: found.scalar, isMultiple: found.isMultiple,
          isDescending: part.isDescending, absent: absent, outerAbsent: outer))
    }
    if declaration.weights == nil, parts.count(where: \.isMultiple) > 1 {
      throw refuse("two of its fields are arrays")
    }
    if let weights = declaration.weights {
      guard weights.count == parts.count else { throw refuse("weights are missing") }
      for (part, weight) in zip(parts, weights) where !(1...Self.maximumWeight).contains(weight) {
        throw refuse(
          "the weight of \(part.path.joined(separator: ".")) is \(weight), and not from 1 to \(Self.maximumWeight); one of "
            + "nested fields is the product of all on the way")
      }
    }
    if Set(parts.map(\.path)).count < parts.count { throw refuse("it names a field twice") }
    collection = description.name
    name = declaration.name
    self.parts = parts
    isUnique = declaration.isUnique
    if let filter = declaration.filter {
      guard let encoded = filter.withOrderedLists.encoded() else {
        throw refuse(
          "its condition\(place) looks at a property that is computed. Let it look at stored ones")
      }
      self.filter = encoded
    } else {
      filter = nil
    }
    weights = declaration.weights
    if let reason = declaration.tokenizer.refusal { throw refuse(reason) }
    tokenizer = declaration.tokenizer.identifier
    unicode = Self.currentStamp(weights, tokenizer)
  }

  init(
    collection: String, name: String, parts: [Part], isUnique: Bool, filter: [UInt8]?,
    weights: [UInt32]? = nil, tokenizer: String? = nil, unicode: UInt32
  ) {
    self.tokenizer = tokenizer
    self.collection = collection
    self.name = name
    self.parts = parts
    self.isUnique = isUnique
    self.filter = filter
    self.weights = weights
    self.unicode = unicode
  }

  /// Whether what stands in it was made as it is made today; otherwise it is built anew.
  var isCurrent: Bool { unicode == Self.currentStamp(weights, tokenizer) }

  private static func currentStamp(_ weights: [UInt32]?, _ tokenizer: String?) -> UInt32 {
    weights == nil ? UnicodeStamp.current : TokenizerStamp.of(tokenizer)
  }

  /// Whether they say the same of everything but what stands for fields that a record lacks.
  func differsOnlyInAbsent(from other: IndexDefinition) -> Bool {
    self != other && withoutAbsent == other.withoutAbsent
  }

  /// Whether what is declared asks for nothing else than this index: it is the same, or has other defaults
  /// where this one has none that are always the same. A default that only some processes find to be another
  /// each time would else have it built again and again.
  func stands(for declared: IndexDefinition) -> Bool {
    if self == declared { return true }
    guard hasUnsettledDefaults, differsOnlyInAbsent(from: declared) else { return false }
    let unsettled = [IndexTag.unsettled]
    return zip(parts, declared.parts).allSatisfy { mine, other in
      (mine.absent == other.absent || mine.absent == unsettled)
        && zip(mine.outerAbsent, other.outerAbsent).allSatisfy { $0 == $1 || $0 == unsettled }
    }
  }

  private var withoutAbsent: IndexDefinition {
    let parts = parts.map {
      Part(
        path: $0.path, scalar: $0.scalar, isMultiple: $0.isMultiple, isDescending: $0.isDescending,
        absent: [], outerAbsent: [])
    }
    return IndexDefinition(
      collection: collection, name: name, parts: parts, isUnique: isUnique, filter: filter,
      weights: weights, tokenizer: tokenizer, unicode: unicode)
  }

  /// Whether this one has taken the place of another. Of two that differ in it the unique one counts as the newer,
  /// however often they have met: a version of an app that does not know that values are unique must not end it.
  ///
  /// - Parameter superseded: The definitions whose place it has taken.
  func isNewer(than other: IndexDefinition, _ superseded: [UInt64]) -> Bool {
    let fingerprint = other.fingerprint
    return superseded.contains(fingerprint) && fingerprint != self.fingerprint
      && (isUnique || !other.isUnique)
  }

  /// A hash of what a type declares; kinds, which the catalogue has, are no part of it.
  var fingerprint: UInt64 {
    var writer = RecordWriter(binding: .none)
    writer.put(isUnique)
    writer.putArray(count: parts.count)
    for part in parts {
      writer.putArray(count: part.path.count)
      for name in part.path { writer.put(name) }
      writer.put(part.isDescending)
      part.absent.withUnsafeBytes { writer.put($0) }
      for absent in part.outerAbsent { absent.withUnsafeBytes { writer.put($0) } }
    }
    if let filter { filter.withUnsafeBytes { writer.put($0) } }
    if let weights {
      writer.putArray(count: weights.count)
      for weight in weights { writer.put(Int64(weight)) }
    }
    if let tokenizer { writer.put(tokenizer) }
    return writer.withBytes { Checksum.hash($0, seed: 0) }
  }

  /// How a missing field is kept; nil where it cannot be.
  static func absent(
    _ step: FieldStep, _ kind: (scalar: IndexScalar, isMultiple: Bool), isOfWords: Bool = false
  ) -> [UInt8]? {
    if !step.isSettled, !isOfWords, !kind.isMultiple { return [IndexTag.unsettled] }
    return absent(step.absent, kind, isOfWords: isOfWords)
  }

  /// How the field is kept where an embedded document on the way to it is missing.
  static func absent(
    outside step: FieldStep, _ kind: (scalar: IndexScalar, isMultiple: Bool),
    isOfWords: Bool = false
  ) -> [UInt8]? {
    step.absent == nil
      ? absent(.null, kind, isOfWords: isOfWords) : absent(step, kind, isOfWords: isOfWords)
  }

  private static func absent(
    _ value: Value?, _ kind: (scalar: IndexScalar, isMultiple: Bool), isOfWords: Bool = false
  ) -> [UInt8]? {
    switch value {
    case nil where isOfWords, .null? where isOfWords: return []
    case .string(let text)? where isOfWords: return [UInt8](text.utf8)
    case nil: return [IndexTag.missing]
    case .array(let elements)?: return kind.isMultiple && elements.isEmpty ? [] : nil
    case .null? where kind.isMultiple: return []
    case let value?:
      var bytes = OrderedBytes(capacity: 64)
      // Whole: where it is too long for an entry, the entry has the hash of all of it.
      bytes.put(value, as: kind.scalar, limit: IndexEncoder.noLimit)
      return [UInt8](bytes.bytes)
    }
  }

  /// The text that a search index keeps for a field that a record lacks; nil where it can keep none.
  static func textOfAbsent(_ value: Value?) -> [UInt8]? {
    absent(value, (.string, true), isOfWords: true)
  }

  /// Whether documents that lack a field stand apart in it, with no value that queries could find.
  var hasUnsettledDefaults: Bool {
    let unsettled = [IndexTag.unsettled]
    return weights == nil
      && parts.contains { $0.absent == unsettled || $0.outerAbsent.contains(unsettled) }
  }

  /// The same index after the catalogue's kinds, or the normaliser, have changed; nil where one
  /// of its fields cannot be indexed any more.
  func renewed(in description: CollectionDescription) -> IndexDefinition? {
    var parts: [Part] = []
    for part in self.parts {
      guard let found = description.indexable(part.path),
        weights == nil || found.scalar == .string
      else { return nil }
      var (absent, outerAbsent) = (part.absent, part.outerAbsent)
      if found.isMultiple != part.isMultiple, weights == nil {
        // An array that is missing has no entry, and a value that is missing has one. What its default is, the next
        // declaration says.
        absent = found.isMultiple ? [] : [IndexTag.unsettled]
        outerAbsent = outerAbsent.map { _ in absent }
      }
      parts.append(
        Part(
          path: part.path, scalar: found.scalar, isMultiple: found.isMultiple,
          isDescending: part.isDescending, absent: absent, outerAbsent: outerAbsent))
    }
    return IndexDefinition(
      collection: collection, name: name, parts: parts, isUnique: isUnique, filter: filter,
      weights: weights, tokenizer: tokenizer, unicode: Self.currentStamp(weights, tokenizer))
  }
}

extension CollectionDescription {
  /// What an index over the field at `path` would hold; nil where it cannot be indexed.
  func indexable(_ path: [String]) -> (scalar: IndexScalar, isMultiple: Bool)? {
    guard let kind = kind(at: path) else { return nil }
    if let scalar = IndexScalar(kind) { return (scalar, false) }
    var elements = kind
    if case .optional(let inner) = kind { elements = inner }
    switch elements {
    case .array(let element), .set(let element):
      if case .optional = element { return nil }
      return IndexScalar(element).map { ($0, true) }
    default: return nil
    }
  }

  /// What an error advises if the field at `path` cannot be indexed.
  fileprivate func insteadOfIndex(over path: [String]) -> String {
    let property = "store what the index is to hold in a property of its own, and index that one"
    guard case .document(let inner)? = kind(at: path)?.unwrapped else {
      return "Queries look at it without an index; or \(property)"
    }
    let fields = tables[inner].fields.map(\.name)
    guard let field = fields.first(where: { indexable(path + [$0]) != nil }) else {
      return "Instead, \(property)"
    }
    return "Index a field in it instead, such as `\((path + [field]).joined(separator: "."))`: "
      + "`Index(\\.\((path + [field]).joined(separator: ".")))` in the type's `indexes`"
  }

  /// The kind of the field at `path`; nil where there is none.
  fileprivate func kind(at path: [String]) -> Kind<Int>? {
    var table = documentTable
    for name in path.dropLast() {
      guard case .document(let inner)? = tables[table].field(named: name)?.kind.unwrapped else {
        return nil
      }
      table = inner
    }
    return path.last.flatMap { tables[table].field(named: $0)?.kind }
  }

  /// Sees to it that no index has become impossible for what has changed since `earlier`.
  ///
  /// - Throws: ``StoreError/valueRefused(collection:key:field:found:expected:)`` for the first that has.
  func checkKeeps(
    _ indexes: [IndexDefinition], of earlier: CollectionDescription
  ) throws(StoreError) {
    guard self != earlier else { return }
    for index in indexes
    where index.renewed(in: self) == nil && index.renewed(in: earlier) != nil {
      let changed = index.parts.first { kind(at: $0.path) != earlier.kind(at: $0.path) }
      let path = changed?.path ?? []
      let (before, now) = (earlier.kind(at: path), kind(at: path))
      throw .valueRefused(
        collection: name, key: "", field: path.joined(separator: "."),
        found: now.map { "\($0)" } ?? "no kind",
        expected:
          "\(before.map { "\($0)" } ?? "a kind") for the index `\(index.name)`, which would "
          + "have to be dropped first")
    }
  }
}

/// Which characters this system's normaliser composes.
///
/// Characters that get a composed form in a newer version of Unicode change where a string
/// stands in an index; such an index is built anew.
enum UnicodeStamp {
  /// Of no normaliser: the entries are of an older format.
  static let outdated = UInt32.max

  /// One bit for each version of Unicode that brought composed characters, from 3.1 to 16.
  static let current: UInt32 = {
    let probes = [
      "\u{1D157}\u{1D165}", "\u{11099}\u{110BA}", "\u{11131}\u{11127}", "\u{11347}\u{1133E}",
      "\u{114B9}\u{114BA}", "\u{115B8}\u{115AF}", "\u{11935}\u{11930}", "\u{105D2}\u{0307}",
      "\u{11382}\u{113C9}", "\u{16121}\u{1611F}",
    ]
    var stamp: UInt32 = 0
    for (bit, probe) in probes.enumerated() where probe.normalized().unicodeScalars.count == 1 {
      stamp |= 1 << UInt32(bit)
    }
    return stamp
  }()
}

/// Which tokenizer has found the words of an index.
///
/// Another one, or another version of the same, finds others; such an index is built anew.
enum TokenizerStamp {
  private static let standard = hash(StandardTokenizer().identifier)

  /// - Parameter identifier: Of an app's tokenizer; nil for the standard one.
  static func of(_ identifier: String?) -> UInt32 { identifier.map(hash) ?? standard }

  private static func hash(_ identifier: String) -> UInt32 {
    let identifier = Array(identifier.utf8)
    return UInt32(truncatingIfNeeded: identifier.withUnsafeBytes { Checksum.hash($0, seed: 0) })
  }
}
