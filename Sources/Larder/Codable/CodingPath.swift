/// A key of the coder's own: a place in an array, or what `superEncoder()` writes under.
enum PathKey: CodingKey {
  case name(String)
  case index(Int)

  static let `super` = PathKey.name("super")

  init(stringValue: String) { self = .name(stringValue) }

  init(intValue: Int) { self = .index(intValue) }

  var stringValue: String {
    switch self {
    case .name(let name): name
    case .index(let index): "Index \(index)"
    }
  }

  var intValue: Int? {
    if case .index(let index) = self { index } else { nil }
  }

  /// What an error's path says.
  static func name(of key: any CodingKey) -> String {
    if case .index(let index)? = key as? PathKey { return "\(index)" }
    return key.stringValue
  }
}

extension RecordError {
  /// An error of the decoder, or of a type's own `init(from:)`, with its coding path as names of fields.
  init(decoding error: any Error) { self.init(error) { .refused($0) } }

  /// The same of the encoder, and of `encode(to:)`.
  init(encoding error: any Error) { self.init(error) { .invalid($0) } }

  private init(_ error: any Error, _ ownReason: (String) -> RecordError) {
    func reason(_ cause: (any Error)?, _ text: String) -> RecordError {
      cause as? RecordError ?? ownReason(text)
    }
    let (path, reason): ([any CodingKey], RecordError) =
      switch error {
      case EncodingError.invalidValue(_, let context):
        (context.codingPath, reason(context.underlyingError, context.debugDescription))
      case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
        DecodingError.valueNotFound(_, let context):
        (context.codingPath, reason(context.underlyingError, context.debugDescription))
      case DecodingError.keyNotFound(let key, let context): (context.codingPath + [key], .missing)
      default: ([], reason(error, "\(error)"))
      }
    self = path.reversed().reduce(reason) { .field(PathKey.name(of: $1), $0) }
  }
}
