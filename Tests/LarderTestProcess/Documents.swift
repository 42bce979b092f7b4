public import Larder

/// A document of a batch, all of which carry the batch's random number: what was never written
/// cannot look as if it had been.
public struct Note: Document, Identifiable, Equatable {
  public var id: String
  /// The random number of the batch that it was saved in.
  public var nonce: String
  /// How many documents the batch has.
  public var batchCount: Int

  public init(id: String, nonce: String, batchCount: Int) {
    self.id = id
    self.nonce = nonce
    self.batchCount = batchCount
  }

  /// The documents of one batch, with random keys.
  public static func batch(
    nonce: UInt64, count: Int, using generator: inout some RandomNumberGenerator
  ) -> [Note] {
    (0..<count).map { _ in
      Note(
        id: String(UInt64.random(in: .min ... .max, using: &generator), radix: 36),
        nonce: String(nonce, radix: 36), batchCount: count)
    }
  }

  public static let schema = Schema<Note>(
    "Note", key: \.id,
    fields: [
      Field("id", \.id), Field("nonce", \.nonce),
      Field("batchCount", \.batchCount),
    ])

  public func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(nonce, at: 1)
    record.put(batchCount, at: 2)
  }

  public init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    nonce = try record.get(1)
    batchCount = try record.get(2)
  }
}

/// An account, of which others are paid: the sum of all balances never changes.
public struct Account: Document, Equatable {
  public var number: Int
  public var balance: Int
  public var text: String

  public var entityAccessorKey: Int { number }

  public init(number: Int, balance: Int, text: String = "") {
    self.number = number
    self.balance = balance
    self.text = text
  }

  public static let schema = Schema<Account>(
    "Account", key: \.number,
    fields: [
      Field("number", \.number), Field("balance", \.balance), Field("text", \.text, default: ""),
    ])

  public func encode(into record: inout RecordWriter) {
    record.put(number, at: 0)
    record.put(balance, at: 1)
    record.put(text, at: 2)
  }

  public init(from record: borrowing RecordReader) throws(RecordError) {
    number = try record.get(0)
    balance = try record.get(1)
    text = try record.get(2)
  }
}
