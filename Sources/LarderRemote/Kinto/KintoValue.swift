internal import LarderImport

/// Values that Kinto would change, or choke on, as text that it keeps: `{"$json": "1e400"}`.
///
/// Kinto's reader of JSON rounds most numbers of more than 15 digits, PostgreSQL makes `0` of `-0.0` and refuses texts
/// with U+0000, and deep nesting is nothing that servers are tried with. Such values stand as the JSON text that they
/// are, in an object with one member. An object that only looks like that is written in the same way. All other values
/// stand as they are, for other clients to read.
enum KintoValue {
  private static let name = "$json"
  /// Arrays and objects inside one another that are sent as they are.
  private static let mostLevels = 64

  /// Adds a value as Kinto gets it.
  ///
  /// - Throws: ``Refusal`` for a name that stands twice in an object.
  static func write(
    _ node: JSONMessage.Node, level: Int = 0, to text: inout [UInt8]
  ) throws(Refusal) {
    if let members = node.members {
      try checkNames(members)
      guard level < mostLevels, !isWrapper(members), !members.contains(where: hasNull) else {
        return wrap(node, to: &text)
      }
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        text.append(quoted: member.name)
        text.append(UInt8(ascii: ":"))
        try write(member.value, level: level + 1, to: &text)
      }
      text.append(UInt8(ascii: "}"))
    } else if let elements = node.elements {
      guard level < mostLevels else { return wrap(node, to: &text) }
      text.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        try write(element, level: level + 1, to: &text)
      }
      text.append(UInt8(ascii: "]"))
    } else if isKept(node) {
      node.withBytes { text += $0 }
    } else {
      wrap(node, to: &text)
    }
  }

  /// Adds a value as it was before it was written.
  static func read(_ node: JSONMessage.Node, to text: inout [UInt8]) {
    if let members = node.members {
      if isWrapper(members), let json = members[0].value.string.map({ Array($0.utf8) }),
        (try? JSONMessage(json, name: name)) != nil
      {
        return text += json
      }
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        text.append(quoted: member.name)
        text.append(UInt8(ascii: ":"))
        read(member.value, to: &text)
      }
      text.append(UInt8(ascii: "}"))
    } else if let elements = node.elements {
      text.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        read(element, to: &text)
      }
      text.append(UInt8(ascii: "]"))
    } else {
      node.withBytes { text += $0 }
    }
  }

  /// Why a document cannot be written.
  struct Refusal: Error {
    let reason: String
  }

  static func checkNames(
    _ members: [(name: String, value: JSONMessage.Node)]
  ) throws(Refusal) {
    var names: Set<[UInt8]> = []
    for member in members where !names.insert(Array(member.name.utf8)).inserted {
      throw Refusal(reason: "the name \(member.name.prefix(100)) stands twice in one object")
    }
  }

  private static func isWrapper(_ members: [(name: String, value: JSONMessage.Node)]) -> Bool {
    members.count == 1 && members[0].name == name && members[0].value.string != nil
  }

  private static func hasNull(_ member: (name: String, value: JSONMessage.Node)) -> Bool {
    member.name.utf8.contains(0)
  }

  private static func wrap(_ node: JSONMessage.Node, to text: inout [UInt8]) {
    text += Array(#"{"\#(name)":"#.utf8)
    text.append(quoted: node.withBytes { String(decoding: $0, as: UTF8.self) })
    text.append(UInt8(ascii: "}"))
  }

  /// Whether a text, a number, a boolean or null comes back as it was.
  private static func isKept(_ node: JSONMessage.Node) -> Bool {
    if let string = node.string { return !string.utf8.contains(0) }
    if node.isNull || node.bool != nil { return true }
    return node.withBytes { isKept(number: $0) }
  }

  /// An integer of 64 bits, or up to 15 digits with a point that stands within 22 places of them: such a number every
  /// reader makes into the same double.
  private static func isKept(number: UnsafeBufferPointer<UInt8>) -> Bool {
    let text = String(decoding: number, as: UTF8.self).lowercased()
    let parts = text.split(separator: "e")
    let digits = parts[0].utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ".") }
    let isZero = digits.allSatisfy { $0 == UInt8(ascii: "0") }
    if isZero { return !text.hasPrefix("-") }
    if parts.count == 1, !text.contains(".") { return Int64(text) != nil || UInt64(text) != nil }
    let fraction = parts[0].split(separator: ".").dropFirst().first?.utf8.count ?? 0
    guard let exponent = parts.count > 1 ? Int(parts[1]) : 0 else { return false }
    let significant = digits.drop { $0 == UInt8(ascii: "0") }.count
    return significant <= 15 && (-22...0).contains(exponent - fraction)
  }
}

extension [UInt8] {
  /// Adds a text as JSON has it.
  mutating func append(quoted text: String) {
    var quoted = RequestText()
    quoted.append(quoted: text)
    self += quoted.bytes
  }
}
