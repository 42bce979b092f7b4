internal import LarderImport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The trace that a mutation leaves in the record that it makes: by it a mutation that comes again is known.
///
/// A record has those of its last few mutations, the newest first, as texts such as `3w5e11.1z9qk0.1795918021653`: the
/// mutation's id and its document, both hashed, and the revision that it made. The newest has none, as Kinto sets the
/// time behind it; whoever writes the next one adds it.
struct KintoStamp: Equatable {
  /// How many a record has. One that is forgotten before its mutation comes again lets a counter count twice: with 8,
  /// three clients that always edited one document and lost a third of the answers came to that in one run of eight.
  static let mostCount = 32

  var mutation: String
  /// The document's ``KintoDigest``; `0` for a deletion.
  var content: String
  var revision: String?

  init(_ mutation: Mutation) {
    self.mutation = KintoDigest.of(mutation.id)
    content = mutation.document.map { KintoDigest.of($0) } ?? "0"
  }

  /// Nil for a text that is none.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard (2...3).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    (mutation, content) = (parts[0], parts[1])
    revision = parts.count == 3 ? parts[2] : nil
  }

  var text: String { [mutation, content, revision].compactMap(\.self).joined(separator: ".") }
}

extension [KintoStamp] {
  /// Those of a record's hidden member.
  init(hidden node: JSONMessage.Node?) {
    self = node?.elements?.compactMap { $0.string.flatMap { KintoStamp($0) } } ?? []
  }

  /// With one more in front.
  ///
  /// - Parameter revision: What the newest until now has made.
  func adding(_ stamp: KintoStamp, behind revision: String) -> [KintoStamp] {
    var earlier = self
    if !earlier.isEmpty, earlier[0].revision == nil { earlier[0].revision = revision }
    return Array(([stamp] + earlier).prefix(KintoStamp.mostCount))
  }

  /// The hidden member and its value.
  var json: [UInt8] {
    var text = [UInt8](#""_larder":["#.utf8)
    for (index, stamp) in enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text.append(quoted: stamp.text)
    }
    return text + [UInt8(ascii: "]")]
  }
}

/// A number of 64 bits that is the same for two documents if they say the same: in any order of members, and however
/// their numbers are written. Not for strangers who want to find two with the same one.
struct KintoDigest {
  // FNV-1a.
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  static func of(_ text: String) -> String {
    var digest = KintoDigest()
    digest.add(text.utf8)
    return String(digest.state, radix: 36)
  }

  /// What is no JSON has one, too.
  static func of(_ document: RemoteDocument) -> String {
    guard let root = try? JSONMessage(Array(document.json), name: "").root else {
      return of(document.description)
    }
    var digest = KintoDigest()
    digest.add(root)
    return String(digest.state, radix: 36)
  }

  private mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  private mutating func add(_ node: JSONMessage.Node) {
    if let members = node.members {
      add("{".utf8)
      let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      for member in sorted {
        add(member.name.utf8)
        add([0xFF])
        add(member.value)
      }
      add("}".utf8)
    } else if let elements = node.elements {
      add("[".utf8)
      for element in elements { add(element) }
      add("]".utf8)
    } else if let string = node.string {
      add("\"".utf8)
      add(string.utf8)
    } else {
      let text = node.withBytes { String(decoding: $0, as: UTF8.self) }
      let isNumber = !node.isNull && node.bool == nil
      add((isNumber && Int64(text) == nil ? Double(text)?.description ?? text : text).utf8)
    }
    add([0xFE])
  }
}
