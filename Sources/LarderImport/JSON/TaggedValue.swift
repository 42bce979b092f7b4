internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Values that say of which kind they are, for fields of which the catalogue does not know it.
///
/// What a type writes by way of its `Codable` is of any kind. JSON has only text for a date in it, and
/// nothing could tell the date from text when it comes in again. So an export writes an object with one
/// member, whose name is the kind: `{"$date": "2026-03-01T09:30:00.000Z"}`. A dictionary with other
/// keys than text is an array of its pairs, `{"$dictionary": [[1, "a"]]}`, and an object that only
/// looks like one of these stands in another: `{"$object": {"$date": "x"}}`.
enum TaggedValue {
  enum Tag: String {
    case date, uuid, data, url, decimal, double, dictionary, object

    var name: String { "$\(rawValue)" }

    init?(name: String) {
      guard name.utf8.first == UInt8(ascii: "$") else { return nil }
      self.init(rawValue: String(name.dropFirst()))
    }

    /// The kind of what stands as text under the tag.
    fileprivate var kind: Kind<Int>? {
      switch self {
      case .date: .date
      case .uuid: .uuid
      case .data: .data
      case .url: .url
      case .decimal: .decimal
      case .double: .double
      case .dictionary, .object: nil
      }
    }
  }

  /// The tag that a value needs to come in again as what it is; nil for most.
  ///
  /// - Parameter isKindKnown: Whether the catalogue says what its text means.
  static func tag(of value: Value, isKindKnown: Bool) -> Tag? {
    switch value {
    case .document(let document):
      let isTag = document.fields.count == 1 && Tag(name: document.fields[0].name) != nil
      return isTag ? .object : nil
    case .dictionary(let pairs):
      if pairs.count == 1, case .string(let name)? = pairs.keys.first, Tag(name: name) != nil {
        return .object
      }
      return isKindKnown || pairs.keys.allSatisfy(\.isText) ? nil : .dictionary
    case _ where isKindKnown: return nil
    case .date: return .date
    case .uuid: return .uuid
    case .data: return .data
    case .url: return .url
    case .decimal: return .decimal
    case .double(let number): return number.isFinite ? nil : .double
    default: return nil
    }
  }

  /// The value under a tag that stands as text; nil where the text is not what an export writes, so
  /// that the objects of others stay as they are.
  static func value(_ tag: Tag, _ text: String) -> Value? {
    guard let kind = tag.kind, let value = ValueText.value(text, as: kind),
      value.plainText == text
    else { return nil }
    return value
  }
}

extension Value {
  fileprivate var isText: Bool { if case .string = self { true } else { false } }
}

extension TapeConversion {
  /// What text means in JSON.
  static let json = TapeConversion(
    value: { ValueText.value($0, as: $1) }, isTag: { TaggedValue.Tag(name: $0) != nil })
}

extension FieldPlace {
  /// Whether a tag can mean something here: in a document, or a dictionary under text, members have any name.
  ///
  /// - Parameter isArray: Whether what is tagged is an array.
  func takes(_ tag: TaggedValue.Tag, ofArray isArray: Bool) -> Bool {
    switch kind {
    case .document: return false
    case .dictionary(.string, let value), .dictionary(.any, let value):
      // No array is one of its values.
      guard tag == .dictionary, isArray else { return false }
      switch value {
      case .any, .null, .array, .set, .optional: return false
      default: return true
      }
    // No tag is a number, or what else the keys are.
    default: return true
    }
  }
}
