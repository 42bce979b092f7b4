#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A stored document that a query left out because it could not be read, as
/// ``Query/skippingUnreadable(_:)`` reports it.
public struct UnreadableDocument: Error, Equatable, Sendable {
  /// The name of the collection that it is in.
  public let collection: String
  /// Its key, as errors have it: text in quotes.
  public let key: String
  /// What could not be read, with the path to the field.
  public let reason: RecordError

  /// Whether a newer version of the app probably wrote it: nothing is damaged, but a field holds a
  /// case that this version's type does not have. Do not delete or replace such a document.
  public var isFromNewerVersion: Bool { reason.isUnknownCase }

  /// Whether it is whole, and its type was another one when it was saved, in an older or a newer version of the app:
  /// a field is missing or nil, holds a value of another kind, a number that is too large, or a case that this version's
  /// type does not have, or its own `init(from:)` refuses the value.
  public var isFromOtherVersion: Bool { reason.isUnknownCase || reason.isMisfit }

  /// Names a document and why it cannot be read.
  public init(collection: String, key: String, reason: RecordError) {
    self.collection = collection
    self.key = key
    self.reason = reason
  }

  /// nil for errors that do not concern one document.
  init?(_ error: StoreError) {
    switch error {
    case .damagedRecord(let collection, let key, let reason),
      .unknownCase(let collection, let key, let reason):
      self.init(collection: collection, key: key, reason: reason)
    default: return nil
    }
  }
}

extension UnreadableDocument: CustomStringConvertible {
  /// As the error that a query without ``Query/skippingUnreadable(_:)`` would have thrown.
  public var description: String {
    "\(StoreError(unreadable: reason, in: collection, key: key))"
  }
}

extension StoreError {
  /// Why the document under `key` cannot be read.
  init(unreadable reason: RecordError, in collection: String, key: String) {
    self =
      reason.isUnknownCase
      ? .unknownCase(collection: collection, key: key, reason: reason)
      : .damagedRecord(collection: collection, key: key, reason: reason)
  }
}

/// Who is told of the documents that are left out. Two queries with a handler are equal whatever
/// their handlers do: they select the same.
struct UnreadableHandler: Sendable, Equatable {
  let report: @Sendable (UnreadableDocument) -> Void

  /// What `body` gives; nil, and a report, for a document that cannot be read.
  func skipping<Result>(_ body: () throws -> Result?) throws -> Result? {
    do {
      return try body()
    } catch let error as StoreError {
      guard let document = UnreadableDocument(error) else { throw error }
      report(document)
      return nil
    }
  }

  static func == (left: Self, right: Self) -> Bool { true }
}

extension UnreadableDocument: LocalizedError {
  public var errorDescription: String? { description }
}
