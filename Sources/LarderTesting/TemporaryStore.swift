public import Larder

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Lends a store in a temporary folder, which is checked when `body` is done with it and then
/// deleted.
///
/// - Throws: Whatever `body` throws; ``UnsoundStore`` when the check finds anything wrong;
///   `StoreError` when the store cannot be made or closed.
public func withTemporaryStore<Result>(
  _ body: (Store) throws -> Result
) throws -> Result {
  let store = try Store.temporary()
  let result = try body(store)
  try verifyAndClose(store)
  return result
}

/// Lends a store in a temporary folder to an asynchronous `body`; otherwise as the synchronous
/// one.
///
/// - Throws: As there.
public func withTemporaryStore<Result>(
  isolation: isolated (any Actor)? = #isolation,
  _ body: (Store) async throws -> Result
) async throws -> Result {
  let store = try Store.temporary()
  let result = try await body(store)
  try verifyAndClose(store)
  return result
}

/// Checks a store that a test is done with, and closes it.
///
/// - Throws: ``UnsoundStore`` when the check finds anything wrong; `StoreError` when the store
///   cannot be read or closed.
public func verifyAndClose(_ store: Store) throws {
  let report = try store.check()
  // On a busy machine what the store does by itself may hold it up.
  try store.close(timeout: .seconds(60))
  if !report.isSound { throw UnsoundStore(report: report) }
}

/// A store that a test left unsound.
public struct UnsoundStore: Error, CustomStringConvertible {
  /// What the check found.
  public let report: CheckReport

  public var description: String {
    "the store is unsound: " + report.problems.map(\.description).joined(separator: "; ")
  }
}

extension UnsoundStore: LocalizedError {
  public var errorDescription: String? { description }
}
