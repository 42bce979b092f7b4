extension Kind where Reference == Int {
  private static var scalarCodes: [(UInt8, Kind)] {
    [
      (0, .null), (1, .any), (2, .bool), (3, .float), (4, .double), (5, .string), (6, .data),
      (7, .date), (8, .uuid), (9, .url), (10, .decimal),
    ] + IntegerKind.allCases.map { (16 + $0.rawValue, .integer($0)) }
  }

  func encoded() -> [UInt8] {
    switch self {
    case .optional(let inner): [32] + inner.encoded()
    case .array(let element): [33] + element.encoded()
    case .set(let element): [34] + element.encoded()
    case .dictionary(let key, let value): [35] + key.encoded() + value.encoded()
    case .document(let table): [36, UInt8(table >> 8), UInt8(table & 0xFF)]
    default: [Self.scalarCodes.first { $0.1 == self }?.0 ?? 1]
    }
  }

  init(
    decoding bytes: inout Slice<UnsafeRawBufferPointer>, depth: Int
  ) throws(RecordError) {
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    guard let code = bytes.popFirst() else { throw .truncated }
    switch code {
    case 32: self = .optional(try Kind(decoding: &bytes, depth: depth + 1))
    case 33: self = .array(try Kind(decoding: &bytes, depth: depth + 1))
    case 34: self = .set(try Kind(decoding: &bytes, depth: depth + 1))
    case 35:
      let key = try Kind(decoding: &bytes, depth: depth + 1)
      self = .dictionary(key, try Kind(decoding: &bytes, depth: depth + 1))
    case 36:
      guard let high = bytes.popFirst(), let low = bytes.popFirst() else { throw .truncated }
      self = .document(Int(high) << 8 | Int(low))
    default:
      guard let kind = Self.scalarCodes.first(where: { $0.0 == code })?.1 else {
        throw .unexpected(byte: code, expected: "a kind")
      }
      self = kind
    }
  }
}
