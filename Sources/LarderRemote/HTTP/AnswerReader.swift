internal import LarderImport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Takes the body of an answer apart, and says of what is against the protocol where it stands.
struct AnswerReader {
  typealias Node = JSONMessage.Node

  let root: Node
  /// What the documents were taken out of, where the answer cannot be read with them.
  private var envelope: DocumentEnvelope?
  /// What errors call it.
  let name: String

  /// - Throws: ``RemoteError/malformed(_:)`` for what is not a JSON object.
  init(_ answer: HTTPAnswer, _ name: String) throws {
    try self.init(answer.body, name)
  }

  init(_ bytes: [UInt8], _ name: String) throws {
    self.name = name
    do {
      root = try JSONMessage(bytes, name: name).root
    } catch {
      guard let envelope = DocumentEnvelope(bytes),
        let message = try? JSONMessage(envelope.bytes, name: name)
      else { throw RemoteError.malformed("\(error)") }
      self.envelope = envelope
      root = message.root
    }
    guard root.isObject else { throw malformed("is \(root.phrase), not an object") }
  }

  func malformed(_ what: String) -> RemoteError { .malformed("\(name) \(what)") }

  private func wrong(
    _ member: StaticString, _ found: Node?, _ expected: String, _ place: String
  ) -> RemoteError {
    malformed("has \(found?.phrase ?? "no value") for \(place)\(member), and not \(expected)")
  }

  /// A text of some bytes.
  func text(
    of member: StaticString, in node: Node, _ place: @autoclosure () -> String = "",
    byteCount: ClosedRange<Int>
  ) throws -> String {
    guard let found = node[member], let text = found.string else {
      throw wrong(member, node[member], "a string", place())
    }
    guard byteCount.contains(text.utf8.count) else {
      throw malformed(
        "has \(text.utf8.count) bytes for \(place())\(member), and not \(byteCount.lowerBound) to "
          + "\(byteCount.upperBound)")
    }
    return text
  }

  /// True or false; false where it is missing.
  func bool(
    of member: StaticString, in node: Node, _ place: @autoclosure () -> String = ""
  ) throws -> Bool {
    guard let found = node[member], !found.isNull else { return false }
    guard let bool = found.bool else { throw wrong(member, found, "true or false", place()) }
    return bool
  }

  /// A number that counts something.
  func count(of member: StaticString, in node: Node) throws -> Int {
    guard let count = node[member]?.integer, count >= 0 else {
      throw wrong(member, node[member], "a whole number, zero or above", "")
    }
    return count
  }

  func elements(of member: StaticString) throws -> [Node] {
    guard let elements = root[member]?.elements else {
      throw wrong(member, root[member], "an array", "")
    }
    return elements
  }

  /// The name of a document, which may be one that no document here can have: it is for others to pass over or refuse,
  /// without the rest of the page.
  func key(_ node: Node, _ place: @autoclosure () -> String) throws -> RemoteKey {
    guard node.isObject else {
      throw malformed("has \(node.phrase) at \(place()), and not an object")
    }
    return RemoteKey(
      try text(of: "collection", in: node, place() + ".", byteCount: 0...(.max)),
      try text(of: "key", in: node, place() + ".", byteCount: 0...(.max)))
  }

  func revision(_ node: Node, _ place: @autoclosure () -> String) throws -> String {
    try text(of: "revision", in: node, place() + ".", byteCount: 1...200)
  }

  /// A document as it is written; nil where there is none.
  func document(_ node: Node, _ place: @autoclosure () -> String) throws -> RemoteDocument? {
    guard let document = node["document"], !document.isNull else { return nil }
    guard document.isObject else {
      throw wrong("document", document, "an object", place() + ".")
    }
    if let envelope, let member = document.members?.first, member.name == envelope.token,
      let index = member.value.integer
    {
      return RemoteDocument(json: envelope.documents[index])
    }
    return RemoteDocument(json: document.withBytes { Data($0) })
  }
}
