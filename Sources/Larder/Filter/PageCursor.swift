#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The place where one page of a query's results ends and the next begins.
///
/// Opaque; it can be encoded, kept, and used in another process and after any change of the data.
/// It says what the last document of the page was sorted by, not how many came before it: whatever
/// is saved or deleted meanwhile, documents that stay as they are are neither given twice nor left
/// out. It holds the sort values and the key of that document in the clear.
public struct PageCursor: Sendable, Hashable {
  /// Which collection, filter and order it belongs to.
  let fingerprint: UInt64
  private let values: Data
  let key: [UInt8]

  private static let version: Int64 = 1

  init(fingerprint: UInt64, values: [Value], key: [UInt8]) {
    self.fingerprint = fingerprint
    var writer = RecordWriter(binding: .none, capacity: 64)
    writer.putNatural(.array(values))
    self.values = writer.withBytes { Data($0) }
    self.key = key
  }

  /// - Throws: ``RecordError`` for bytes that this type did not write.
  func sortValues() throws(RecordError) -> [Value] {
    let result: Result<Value, RecordError> = values.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return .failure(.truncated) }
      do throws(RecordError) {
        var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
        return .success(try reader.value())
      } catch {
        return .failure(error)
      }
    }
    guard case .array(let values) = try result.get() else { throw .invalid("its values are none") }
    return values
  }
}

extension PageCursor: Codable {
  private enum CodingKeys: String, CodingKey { case version, fingerprint, values, key }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Self.version, forKey: .version)
    try container.encode(fingerprint, forKey: .fingerprint)
    try container.encode(values, forKey: .values)
    try container.encode(Data(key), forKey: .key)
  }

  /// - Throws: `DecodingError`, also for a cursor that a newer version of Larder made.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard try container.decode(Int64.self, forKey: .version) == Self.version else {
      throw DecodingError.dataCorruptedError(
        forKey: .version, in: container, debugDescription: "a cursor of another version of Larder")
    }
    fingerprint = try container.decode(UInt64.self, forKey: .fingerprint)
    values = try container.decode(Data.self, forKey: .values)
    key = [UInt8](try container.decode(Data.self, forKey: .key))
    guard (1...KeyKind.maximumByteCount).contains(key.count) else {
      throw DecodingError.dataCorruptedError(
        forKey: .key, in: container, debugDescription: "a cursor without a key")
    }
  }
}

extension FilterNode {
  /// Its parts as bytes, without those that only the decoded document has.
  fileprivate var encodedWhereStored: [UInt8] {
    if let bytes = encoded() { return bytes }
    return switch self {
    case .conjunction(let parts), .disjunction(let parts): parts.flatMap(\.encodedWhereStored)
    case .not(let part): part.encodedWhereStored
    default: []
    }
  }
}

extension Selection {
  /// What tells cursors of one query from those of another: collection, filter and order. What is
  /// computed counts by its place only.
  func fingerprint(_ collection: String) -> UInt64 {
    var description = Array("\(collection) \(filter.splitAtPosition.1)".utf8)
    for key in order {
      description += Array("; \(key.operand) \(key.isReversed)".utf8)
      if let weights = key.rank?.condition.weights, weights.contains(where: { $0 != 1 }) {
        description += Array(" \(weights)".utf8)
      }
    }
    // Numbers and dates that are printed alike differ here.
    description += filter.splitAtPosition.1.withoutUnsettledDefaults.encodedWhereStored
    return description.withUnsafeBytes { Checksum.hash($0, seed: 0) }
  }

  /// The position that a cursor of this selection marks.
  ///
  /// - Returns: This selection too, which ranks as it did when the cursor was made.
  func position(
    at cursor: PageCursor, in collection: String
  ) throws(StoreError) -> (Position, Selection) {
    guard cursor.fingerprint == fingerprint(collection) else {
      throw .cursorRefused(
        collection: collection, reason: "it belongs to a query with another filter or order")
    }
    let values: [Value]
    do throws(RecordError) {
      values = try cursor.sortValues()
    } catch {
      throw .cursorRefused(collection: collection, reason: "\(error)")
    }
    guard values.count >= order.count,
      zip(order, values).allSatisfy({ $0.rank == nil || $1.isScore }),
      let selection = ranked(by: values.dropFirst(order.count))
    else {
      throw .cursorRefused(collection: collection, reason: "it has the values of another order")
    }
    let position = Position(
      order: selection.order, values: Array(values.prefix(order.count)), key: cursor.key)
    return (position, selection)
  }
}

extension Value {
  /// Whether a document can have it as its rank.
  fileprivate var isScore: Bool {
    if case .double(let score) = self { !score.isNaN } else { false }
  }
}
