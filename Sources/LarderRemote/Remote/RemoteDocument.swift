#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A document as it travels: a JSON object in UTF-8.
public struct RemoteDocument: Sendable, Hashable, CustomStringConvertible {
  /// The object's text.
  public let json: Data

  /// A document whose text is known to be a JSON object, or is checked by whoever reads it.
  public init(json: Data) { self.json = json }

  /// A document from a value that encodes itself as a JSON object.
  ///
  /// - Throws: What encoding throws.
  public init(encoding value: some Encodable, with encoder: JSONEncoder = JSONEncoder()) throws {
    json = try encoder.encode(value)
  }

  /// The value that a type reads from the document.
  ///
  /// - Throws: What decoding throws.
  public func decode<Model: Decodable>(
    as type: Model.Type, with decoder: JSONDecoder = JSONDecoder()
  ) throws -> Model {
    try decoder.decode(type, from: json)
  }

  public var description: String { String(decoding: json, as: UTF8.self) }
}
