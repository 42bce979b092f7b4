internal import LarderImport

/// A JSON text in a form that only its value decides: not the order of members, white space, escapes, or how a
/// number is written. `1`, `1.0` and `10e-1` are one; `0` and `-0` are two.
enum JSONForm {
  /// Nil for a text that is not JSON.
  static func of(_ document: RemoteDocument) -> String? {
    (try? JSONMessage(Array(document.json), name: "")).map { form($0.root) }
  }

  private static func form(_ node: JSONMessage.Node) -> String {
    if let members = node.members {
      let forms = members.map { "\($0.name.debugDescription):\(form($0.value))" }
      return "{" + forms.sorted().joined(separator: ",") + "}"
    }
    if let elements = node.elements {
      return "[" + elements.map(form).joined(separator: ",") + "]"
    }
    if let string = node.string { return string.debugDescription }
    if node.isNull { return "null" }
    if let bool = node.bool { return "\(bool)" }
    return number(node.withBytes { String(decoding: $0, as: UTF8.self) })
  }

  /// Sign, digits without zeros at their ends, and the power of ten of the last one.
  private static func number(_ text: String) -> String {
    let parts = text.lowercased().split(separator: "e")
    var digits = parts[0].drop { $0 == "-" }
    var exponent = parts.count > 1 ? Int(parts[1]) ?? .max / 2 : 0
    if let point = digits.firstIndex(of: ".") {
      exponent -= digits.distance(from: point, to: digits.endIndex) - 1
      digits.remove(at: point)
    }
    digits = digits.drop { $0 == "0" }
    while digits.last == "0" {
      digits.removeLast()
      exponent += 1
    }
    let sign = text.hasPrefix("-") ? "-" : ""
    return digits.isEmpty ? "\(sign)0" : "\(sign)\(digits)e\(exponent)"
  }
}

extension RemoteDocument {
  /// Whether it says the same, however it is written.
  func isSame(as other: RemoteDocument) -> Bool {
    if json == other.json { return true }
    guard let form = JSONForm.of(self) else { return false }
    return form == JSONForm.of(other)
  }
}
