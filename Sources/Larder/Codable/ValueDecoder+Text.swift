#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ValueDecoder {
  /// Decodes a value of a native type that is not stored in its own form, but may be text.
  ///
  /// - Parameters:
  ///   - place: In front of the value, where it is not this decoder's own.
  ///   - key: What it then stands under.
  ///   - error: Why it is not stored in its own form.
  /// - Throws: `error`, as `Codable` has it, where text is not allowed or means no such value either.
  @inline(never) func decodeText<Decoded: Decodable>(
    _ type: Decoded.Type, at place: ValueReader?, _ key: (any CodingKey)?,
    insteadOf error: RecordError
  ) throws -> Decoded {
    if isLent, let reading = input.textReading, case .unexpected = error.reason {
      if let value = Self.value(type, asTextAt: place ?? reader) {
        reading.note()
        return value
      }
      let traits = CodingTraits.of(type)
      // Of a container the elements may be text: decoded one by one, each comes here. Where that fails
      // too, the first error says more.
      if traits.native != nil, traits.elementType != nil,
        let value = try? Decoded(from: place.map { inner($0, key) } ?? self)
      {
        return value
      }
    }
    throw decodingError(error, type, at: place, key)
  }

  private static func value<Decoded>(
    _ type: Decoded.Type, asTextAt start: ValueReader
  ) -> Decoded? {
    var reader = start
    // If it is not even text, the caller throws the error that it has.
    guard let kind = kinds[ObjectIdentifier(type)], reader.nextIsString,
      let text = try? reader.string()
    else { return nil }
    return switch Value.string(text).coerced(to: kind) {
    case .date(let date): date as? Decoded
    case .uuid(let id): id as? Decoded
    case .url(let url): url as? Decoded
    case .data(let data): data as? Decoded
    case .decimal(let decimal): decimal as? Decoded
    default: nil
    }
  }

  private static let kinds: [ObjectIdentifier: Kind<Int>] = [
    ObjectIdentifier(Date.self): .date, ObjectIdentifier(UUID.self): .uuid,
    ObjectIdentifier(URL.self): .url, ObjectIdentifier(Data.self): .data,
    ObjectIdentifier(Decimal.self): .decimal,
  ]
}
