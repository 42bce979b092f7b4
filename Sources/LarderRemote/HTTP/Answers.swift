internal import LarderImport

// The answers of the protocol, as they are read.

extension PullAnswer {
  init(_ reader: AnswerReader, to request: PullRequest) throws {
    let changes = try reader.elements(of: "changes")
    self.init(
      changes: try changes.enumerated().map { index, node in
        try RemoteChange(node, reader, "changes[\(index)]")
      },
      cursor: try reader.text(of: "cursor", in: reader.root, byteCount: 1...65_536),
      hasMore: try reader.bool(of: "more", in: reader.root))
    guard !hasMore || cursor != request.cursor else {
      throw reader.malformed("has more, and the cursor that was sent: it would never end")
    }
  }
}

extension RemoteChange {
  fileprivate init(
    _ node: AnswerReader.Node, _ reader: AnswerReader, _ place: @autoclosure () -> String
  ) throws {
    let key = try reader.key(node, place())
    let isDeleted = try reader.bool(of: "deleted", in: node, place() + ".")
    let hasLeft = try reader.bool(of: "left", in: node, place() + ".")
    let content: Content
    switch (try reader.document(node, place()), isDeleted, hasLeft) {
    case (let document?, false, false): content = .document(document)
    case (nil, true, false): content = .deleted
    case (nil, false, true): content = .left
    default:
      throw reader.malformed(
        "has at \(place()) not exactly one of a document, \"deleted\" and \"left\"")
    }
    self.init(key, revision: try reader.revision(node, place()), content)
  }
}

extension PushResult {
  static func all(_ reader: AnswerReader, to mutations: [Mutation]) throws -> [PushResult] {
    let results = try reader.elements(of: "results")
    guard results.count == mutations.count else {
      throw reader.malformed("has \(results.count) results for \(mutations.count) mutations")
    }
    return try zip(results, mutations).enumerated().map { index, pair in
      try PushResult(pair.0, to: pair.1, reader, "results[\(index)]")
    }
  }

  private init(
    _ node: AnswerReader.Node, to mutation: Mutation, _ reader: AnswerReader,
    _ place: @autoclosure () -> String
  ) throws {
    let status = try reader.text(of: "status", in: node, place() + ".", byteCount: 0...100)
    // A server may have no id for a mutation that it could not read.
    if let id = node["id"]?.string, id.lowercased() != mutation.id.lowercased() {
      throw reader.malformed("has at \(place()) the result of another mutation, \(id.prefix(100))")
    }
    switch status {
    case "accepted":
      let hasNone = node["revision"]?.isNull ?? true
      // There is none where nothing was there that could be deleted.
      self = .accepted(
        revision: hasNone && mutation.document == nil ? "" : try reader.revision(node, place()))
    case "conflict": self = .conflict(try RemoteVersion(node, reader, place()))
    case "rejected":
      self = .rejected(
        code: try reader.text(of: "code", in: node, place() + ".", byteCount: 0...1000),
        reason: node["reason"]?.string ?? "")
    case "retry": self = .retry
    default: throw reader.malformed("has at \(place()) an unknown status, \"\(status)\"")
    }
  }
}

extension RemoteVersion {
  /// The current version of a result; nil where the document is not there and never was.
  fileprivate init?(
    _ result: AnswerReader.Node, _ reader: AnswerReader, _ place: @autoclosure () -> String
  ) throws {
    guard let node = result["current"], !node.isNull else { return nil }
    guard node.isObject else {
      throw reader.malformed("has \(node.phrase) for \(place()).current, and not an object")
    }
    let document = try reader.document(node, place() + ".current")
    let isDeleted = try reader.bool(of: "deleted", in: node, place() + ".current.")
    guard (document == nil) == isDeleted else {
      throw reader.malformed("has for \(place()).current not one of a document and \"deleted\"")
    }
    // A deleted one without a revision was not there, or its tombstone is forgotten.
    if isDeleted, node["revision"]?.isNull ?? true { return nil }
    self.init(revision: try reader.revision(node, place() + ".current"), document: document)
  }
}

extension ManifestAnswer {
  init(_ reader: AnswerReader) throws {
    let entries = try reader.elements(of: "entries").enumerated().map { index, node in
      Entry(
        try reader.key(node, "entries[\(index)]"),
        revision: try reader.revision(node, "entries[\(index)]"))
    }
    self.init(entries: entries, hasMore: try reader.bool(of: "more", in: reader.root))
    guard zip(entries, entries.dropFirst()).allSatisfy({ $0.key < $1.key }) else {
      throw reader.malformed("is not in the order of collection and key")
    }
    guard !hasMore || !entries.isEmpty else {
      throw reader.malformed("has more, and no entries: it would never end")
    }
  }
}

/// What the base address says of the server.
struct HTTPFacts: Sendable {
  var facts = RemoteFacts()
  var hasHints = false

  init() {
    // While the server works on some, answers are saved and the next ones are on their way. With four under way
    // the server took one and a half times as many edits a second as with two.
    facts.maximumConcurrentPushCount = 4
  }

  init(_ reader: AnswerReader) throws {
    self.init()
    let version = try reader.count(of: "protocol", in: reader.root)
    guard version == 1 else {
      throw RemoteError.gone("it speaks version \(version) of the protocol, and this app version 1")
    }
    let capabilities = Set(reader.root["capabilities"]?.elements?.compactMap(\.string) ?? [])
    facts.hasCount = capabilities.contains("count")
    facts.hasManifest = capabilities.contains("manifest")
    hasHints = capabilities.contains("hints")
    guard let limits = reader.root["limits"] else { return }
    if let most = limits["mutations"]?.integer, most > 0 { facts.maximumMutationCount = most }
    if let most = limits["pageDocuments"]?.integer, most > 0 { facts.maximumChangeCount = most }
    if let most = limits["bodyBytes"]?.integer, most > 0 {
      // Half of a body is for keys and ids, and several are under way at once.
      facts.maximumPushByteCount = max(most / 2 / facts.maximumConcurrentPushCount, 1)
    }
  }
}
