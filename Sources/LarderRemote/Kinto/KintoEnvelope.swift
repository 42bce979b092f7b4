internal import Larder
internal import LarderImport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The answer to a batch whose records were taken out: one of them that cannot be read, such as one that is nested too
/// deeply, must keep nobody from the others. Any client of Kinto may have written it.
struct KintoEnvelope {
  /// The answer, with an object in place of each record of a list: its one member has the name ``token`` and the place
  /// of the record in ``records``.
  private(set) var bytes: [UInt8] = []
  private(set) var records: [[UInt8]] = []
  /// Drawn by lot, so that no record can have it.
  let token = UUID.random().uuidString

  /// How deep the members of a body are nested: `{"responses": [{"body": {"data": [...]}}]}`.
  private static let depth = 4
  private static let list = Array(#""data""#.utf8)
  /// The record that a refused write has met, in a body's `details`. It is read otherwise.
  private static let existing = Array(#""existing""#.utf8)

  /// Nil for what has no such records, or ends inside of one.
  init?(_ answer: [UInt8]) {
    var skim = JSONSkim(answer)
    var depth = 0
    var copied = 0
    var isInList = false
    /// Takes the value that begins at a place.
    func take(_ value: Int, _ text: String) -> [UInt8]? {
      skim.next = value
      guard skim.passValue() else { return nil }
      bytes += answer[copied..<value]
      bytes += Array(text.utf8)
      copied = skim.next
      return Array(skim.bytes(from: value))
    }
    while !skim.isAtEnd {
      let start = skim.next
      if isInList, depth == Self.depth + 1, answer[start] == UInt8(ascii: "{") {
        guard let record = take(start, #"{"\#(token)":\#(records.count)}"#) else { return nil }
        records.append(record)
        continue
      }
      depth += skim.passToken()
      let token = skim.bytes(from: start)
      if depth == Self.depth { isInList = false }
      if depth == Self.depth, token == Self.list[...], let value = skim.value(beginningWith: "[") {
        skim.next = value
        depth += skim.passToken()
        isInList = true
      } else if depth == Self.depth + 1, token == Self.existing[...],
        let value = skim.value(beginningWith: "{")
      {
        guard take(value, "{}") != nil else { return nil }
      }
    }
    if copied == 0 { return nil }
    bytes += answer[copied...]
  }

  /// The record in whose place an object stands; nil for an object that stands for none.
  ///
  /// - Throws: ``RemoteError/malformed(_:)`` for one without the members by which Kinto knows it.
  func record(_ node: JSONMessage.Node) throws -> KintoRecord? {
    guard let member = node.members?.first, member.name == token, let index = member.value.integer
    else { return nil }
    let bytes = records[index]
    if let message = try? JSONMessage(bytes, name: "a record") {
      return try KintoRecord(message.root)
    }
    // What is wrong with the rest of it is told where it is saved.
    guard let head = try? JSONMessage(Self.head(of: bytes), name: "a record") else {
      throw RemoteError.malformed("a record of Kinto cannot be read, and has no `id` that can")
    }
    var record = try KintoRecord(head.root)
    if record.document != nil { record.document = RemoteDocument(json: Data(bytes)) }
    return record
  }

  /// Of an object the members that Kinto adds.
  private static func head(of record: [UInt8]) -> [UInt8] {
    var skim = JSONSkim(record)
    var head: [UInt8] = []
    var depth = 0
    while !skim.isAtEnd {
      let start = skim.next
      depth += skim.passToken()
      let name = skim.bytes(from: start)
      guard depth == 1, let value = skim.valueAhead(),
        [#""id""#, #""last_modified""#, #""deleted""#].contains(where: {
          name == Array($0.utf8)[...]
        })
      else { continue }
      skim.next = value
      guard skim.passValue() else { break }
      head += (head.isEmpty ? [] : [UInt8(ascii: ",")]) + name + [UInt8(ascii: ":")]
      head += skim.bytes(from: value)
    }
    return [UInt8(ascii: "{")] + head + [UInt8(ascii: "}")]
  }
}
