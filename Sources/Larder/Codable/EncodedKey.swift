/// A key of a dictionary, as it stands on disk.
struct EncodedKey {
  private let bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  private var value: Value? {
    guard let start = bytes.baseAddress else { return nil }
    var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
    return try? reader.value()  // A key that cannot be read is none.
  }

  /// What a coding key of it has as its name; empty for what is neither text nor a number.
  var text: String {
    switch value {
    case .string(let text)?: text
    case .integer(let number)?: "\(number)"
    case .unsigned(let number)?: "\(number)"
    default: ""
    }
  }

  /// The coding key that it is; nil for what is neither text nor an integer, and for what the type
  /// does not know.
  func codingKey<Key: CodingKey>(_ type: Key.Type) -> Key? {
    switch value {
    case .string(let text)?: Key(stringValue: text)
    case .integer(let number)?: Int(exactly: number).flatMap { Key(intValue: $0) }
    default: nil
    }
  }
}
