internal import LarderImport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A version of a record: what a remote's version is, and the stamps of the mutations that made it.
///
/// The fields of a document are members of the record, as ``KintoValue`` writes them. Kinto's own names (`id`,
/// `last_modified`, `schema`, `deleted`) and those that begin with `_` have a `$` in front, and so has such a name with
/// a `$` in front already. What else begins with `_` is not the document's: it is left out when a record is read, and
/// gone when it is written.
struct KintoRecord {
  var id: String
  /// The time of the last change, by the server.
  var revision: String
  /// Nil for a tombstone.
  var document: RemoteDocument?
  var stamps: [KintoStamp]

  private static let ownNames: Set<String> = ["id", "last_modified", "schema", "deleted"]

  /// - Throws: ``RemoteError/malformed(_:)``.
  init(_ node: JSONMessage.Node) throws {
    guard let id = node["id"]?.string, let time = node["last_modified"]?.integer, time > 0 else {
      throw RemoteError.malformed("a record of Kinto has no `id`, or no `last_modified`")
    }
    self.id = id
    revision = "\(time)"
    stamps = [KintoStamp](hidden: node["_larder"])
    document = node["deleted"]?.bool == true ? nil : Self.document(node)
  }

  private static func document(_ node: JSONMessage.Node) -> RemoteDocument {
    var text: [UInt8] = [UInt8(ascii: "{")]
    let hasWrappers = node.withBytes { bytes in contains(bytes, Array(#""$json""#.utf8)) }
    for member in node.members ?? [] {
      let isHidden = isOwn(member.name)
      if isHidden, !member.name.hasPrefix("$") { continue }
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text.append(
        quoted: isHidden ? String(member.name.dropFirst()) : member.name)
      text.append(UInt8(ascii: ":"))
      if hasWrappers {
        KintoValue.read(member.value, to: &text)
      } else {
        member.value.withBytes { text += $0 }
      }
    }
    return RemoteDocument(json: Data(text + [UInt8(ascii: "}")]))
  }

  /// Whether a name is one of Kinto's own or a hidden one, behind any number of `$`.
  private static func isOwn(_ name: String) -> Bool {
    let bare = name.drop { $0 == "$" }
    return bare.hasPrefix("_") || ownNames.contains(String(bare))
  }

  private static func contains(_ bytes: UnsafeBufferPointer<UInt8>, _ part: [UInt8]) -> Bool {
    guard bytes.count >= part.count else { return false }
    return (0...bytes.count - part.count).contains { place in
      bytes[place] == part[0] && bytes[place..<place + part.count].elementsEqual(part)
    }
  }

  /// The body of the request that makes a record of a document.
  ///
  /// - Throws: `KintoValue.Refusal` for what can be no record.
  static func body(
    of document: RemoteDocument, _ stamps: [KintoStamp]
  ) throws(KintoValue.Refusal) -> [UInt8] {
    if let fault = document.fault { throw KintoValue.Refusal(reason: fault) }
    guard let message = try? JSONMessage(Array(document.json), name: "the document") else {
      throw KintoValue.Refusal(reason: "the document cannot be read")
    }
    let members = message.root.members ?? []
    try KintoValue.checkNames(members)
    var text = Array(#"{"data":{"#.utf8) + stamps.json
    for (name, value) in members {
      guard !name.utf8.contains(0) else {
        throw KintoValue.Refusal(reason: "the name of a field has U+0000, which Kinto cannot store")
      }
      text.append(UInt8(ascii: ","))
      text.append(quoted: isOwn(name) ? "$" + name : name)
      text.append(UInt8(ascii: ":"))
      try KintoValue.write(value, level: 1, to: &text)
    }
    return text + Array("}}".utf8)
  }

  /// As the engine sees it.
  var version: RemoteVersion { RemoteVersion(revision: revision, document: document) }

  /// How a mutation was answered that is among those that made the record; nil where it is not.
  func answer(to mutation: Mutation, _ stamp: KintoStamp) -> PushResult? {
    guard let made = stamps.first(where: { $0.mutation == stamp.mutation }) else { return nil }
    guard made.content == stamp.content else {
      return .rejected(code: "reused", reason: "the id of the mutation was used for another edit")
    }
    if let revision = made.revision { return .accepted(revision: revision) }
    let content = document.map { KintoDigest.of($0) } ?? "0"
    // A client that knows nothing of stamps may have changed the record and left them as they were. What the mutation
    // made is no longer known then; it was another version than this one.
    return .accepted(revision: content == made.content ? revision : "before-\(revision)")
  }
}
