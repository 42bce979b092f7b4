/// A JSON value as the file has it: nothing merged, reordered or rounded unseen.
package enum JSONValue: Equatable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number in integer syntax that fits.
  case integer(Int64)
  /// A number in integer syntax above `Int64.max` that fits.
  case unsigned(UInt64)
  /// A number with a fraction or an exponent, correctly rounded.
  case double(Double)
  /// A number that no case above holds without loss, as written.
  ///
  /// An integer outside `Int64` and `UInt64`; a fraction or exponent with more than 17 significant
  /// digits (zeros at either end do not count), or with 16 or 17 that no double has, or so large
  /// that it would be infinite, or so small that it would be zero.
  /// Also `-0`, which is an integer for some and a double for others.
  case number(String)
  /// A string, its escapes resolved and not normalised.
  case string(String)
  /// Elements in file order.
  case array([JSONValue])
  /// Members in file order; no name stands twice.
  case object([JSONMember])

  static let minusZero = JSONValue.number("-0")

  /// What the value is, as a phrase for ``ImportError/found``: "a string", "an integer".
  package var phrase: String {
    switch self {
    case .null: "null"
    case .bool: "a bool"
    case .integer, .unsigned: "an integer"
    case .double: "a number"
    case .number(let text): "the number \(quoted(text))"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// One name and value of an object.
package struct JSONMember: Sendable {
  /// The name, its escapes resolved and not normalised.
  package var name: String

  /// The value.
  package var value: JSONValue

  /// Where the value begins in its file.
  package var position: TextPosition

  /// A member; one that was not read from a file stands at ``TextPosition/start``.
  package init(name: String, value: JSONValue, position: TextPosition = .start) {
    self.name = name
    self.value = value
    self.position = position
  }
}

extension JSONMember: Equatable {
  /// Whether name and value are equal; where they stand is left out.
  package static func == (left: JSONMember, right: JSONMember) -> Bool {
    left.name == right.name && left.value == right.value
  }
}
