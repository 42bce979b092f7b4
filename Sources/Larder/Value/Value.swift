#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A field's value when its Swift type is not known: what importers and the command line see.
public indirect enum Value: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Above `Int64.max`; what fits is an ``integer(_:)``.
  case unsigned(UInt64)
  case double(Double)
  case string(String)
  case data(Data)
  case date(Date)
  case uuid(UUID)
  case url(URL)
  case decimal(Decimal)
  /// An array, or a set in the order of its bytes.
  case array([Value])
  case dictionary([Value: Value])
  case document(DynamicDocument)

  /// An integer of either case.
  init(_ value: UInt64) {
    self = Int64(exactly: value).map(Value.integer) ?? .unsigned(value)
  }

  /// The same, with an integer in the case that it is stored in.
  var plain: Value { if case .unsigned(let number) = self { Value(number) } else { self } }
}

/// A document whose Swift type is not known: named fields in the order of the catalogue.
public struct DynamicDocument: Hashable, Sendable {
  /// A field's name and what it holds.
  public struct Field: Hashable, Sendable {
    /// The name, as it is stored.
    public var name: String
    /// What the field holds.
    public var value: Value

    /// A field with a name and a value.
    public init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  /// The fields; no name stands twice.
  public private(set) var fields: [Field]

  /// - Parameter fields: Of a name that stands twice the last value wins, in the first's place.
  public init(_ fields: [Field] = []) {
    self.fields = []
    self.fields.reserveCapacity(fields.count)
    if fields.count <= 16 {
      for field in fields { self[field.name] = field.value }
      return
    }
    var places: [String: Int] = [:]
    for field in fields {
      if let place = places[field.name] {
        self.fields[place].value = field.value
      } else {
        places[field.name] = self.fields.count
        self.fields.append(field)
      }
    }
  }

  /// - Parameter uniqueFields: Fields whose names are known to differ.
  package init(uniqueFields: [Field]) { fields = uniqueFields }

  /// Whether a field has no value: it is stored as nil, or not at all.
  public func isNil(_ name: String) -> Bool { (self[name] ?? .null) == .null }

  /// The value of a field; nil where the document has none. One that is stored as nil is `.null`.
  public subscript(name: String) -> Value? {
    get { fields.first { $0.name == name }?.value }
    set {
      let place = fields.firstIndex { $0.name == name }
      switch (place, newValue) {
      case (let place?, let value?): fields[place].value = value
      case (let place?, nil): fields.remove(at: place)
      case (nil, let value?): fields.append(Field(name, value))
      case (nil, nil): break
      }
    }
  }

  /// Equal when the same names have the same values, in any order.
  public static func == (left: Self, right: Self) -> Bool {
    guard left.fields.count == right.fields.count else { return false }
    let others = Dictionary(
      right.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    return left.fields.allSatisfy { others[$0.name] == $0.value }
  }

  /// The same in any order, and each field is looked at once, however deep it is.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(fields.reduce(0) { $0 &+ $1.hashValue })
  }
}

extension DynamicDocument: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, Value)...) {
    self.init(elements.map { Field($0, $1) })
  }
}

// No nil literal: a `nil` that means "no value" would become a null that is stored.
extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: Value...) { self = .array(elements) }
}

extension Value: CustomStringConvertible {
  /// JSON where JSON has the kind, and the value's own description where it does not.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): Self.quoted(value)
    case .data(let value): Self.quoted(value.base64EncodedString())
    case .date(let value): Self.quoted(DateText.text(of: value))
    case .uuid(let value): Self.quoted(value.uuidString)
    case .url(let value): Self.quoted(value.absoluteString)
    case .decimal(let value): "\(value)"
    case .array(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    case .dictionary(let pairs):
      "{"
        + pairs.map { "\($0.key.nameDescription): \($0.value)" }.sorted().joined(separator: ", ")
        + "}"
    case .document(let document): document.description
    }
  }

  private var nameDescription: String {
    if case .string = self { return description }
    return Self.quoted(description)
  }

  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case "\u{0}"..<"\u{20}", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension DynamicDocument: CustomStringConvertible {
  /// One line of JSON, as far as JSON has the kinds.
  public var description: String {
    "{" + fields.map { "\(Value.quoted($0.name)): \($0.value)" }.joined(separator: ", ") + "}"
  }
}
