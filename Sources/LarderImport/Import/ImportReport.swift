public import Larder

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What an import did.
public struct ImportReport: Sendable {
  /// What became of the documents; all zero in a dry run.
  public var saved = SaveReport()
  /// Documents in the file.
  public var documentCount = 0
  /// Documents in the file that another one after them has the key of; see ``RepeatedKeys/lastWins``.
  public var repeatedKeyCount = 0
  /// Bytes of the file.
  public var byteCount = 0
  /// From the first byte read to the last commit.
  public var duration = Duration.zero
  /// Names and kinds of the fields that were inferred from the file, for people; those that a type
  /// declares are left out.
  public var inferredFields: [(name: String, kind: String)] = []
  /// Documents that showed something new, or that only the names of their fields tell how to save.
  var rehearsedDocumentCount = 0
  /// Documents that were read a second time, to be saved.
  var secondReadCount = 0
  /// Documents that threads of their own have tried.
  var sharedDocumentCount = 0
  /// Batches that threads of their own have made.
  var dividedBatchCount = 0
  /// Documents that were written as records without a tree of them.
  var directDocumentCount = 0
}

/// An import that ended before its end, with nothing wrong in its input.
public struct ImportInterrupted: Error {
  /// What became of the documents that were saved before; they stay saved.
  public let saved: SaveReport
  /// How many documents of the file were saved.
  public let documentCount: Int
  /// Documents in the file; nil when it was stopped before they were counted.
  public let totalDocumentCount: Int?
  /// `CancellationError` when its task was cancelled; what `progress` threw; else what kept it from going on.
  public let reason: any Error
}

extension ImportInterrupted: CustomStringConvertible {
  /// What happened, how much is saved and how to go on.
  public var description: String {
    let cause = reason is CancellationError ? "the import was stopped" : "\(reason)"
    guard documentCount > 0 else { return "\(cause); nothing was saved" }
    let total = totalDocumentCount.map { " of \($0)" } ?? ""
    return "\(cause); \(documentCount)\(total) documents were saved before. Import the file again "
      + "to go on: those will be unchanged"
  }
}

extension ImportInterrupted: LocalizedError {
  public var errorDescription: String? { description }
}
