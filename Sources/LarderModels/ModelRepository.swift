/// Models that a part of an app reads, edits and watches, wherever and in whatever form they are kept.
///
/// ```swift
/// import LarderModels
///
/// enum SellerContactsRequest: Sendable { case everyone, inCity(String) }
///
/// struct SellerContactsService: Sendable {
///   let contacts: any ModelRepository<SellerContact, SellerContactsRequest>
///
///   func inCity(_ city: String) throws -> [SellerContact] { try contacts.fetch(.inCity(city)) }
/// }
/// ```
/// The models and the requests are the app's own plain types. Whoever puts the app together makes
/// such a repository of one of Larder's, with `hidingEntity(_:)`, and says there which query a
/// request means. A test can write its own in a few lines.
///
/// This module holds nothing else and depends on nothing, so that neither a service nor its tests
/// know of a store. What a repository throws is its own; those of Larder throw `StoreError`.
public protocol ModelRepository<Model, Request>: Sendable {
  /// What goes in and comes out. Its `id` is what it is found by.
  associatedtype Model: Identifiable & Sendable where Model.ID: Sendable
  /// The questions that can be asked. With an enum the compiler finds the one that has no answer.
  associatedtype Request: Sendable

  // MARK: Reading

  /// The model with this id, or nil. Does not wait for writes.
  ///
  /// - Throws: An error when it cannot be read.
  func get(_ id: Model.ID) throws -> Model?

  /// The models that `request` asks for, in its order. Does not wait for writes.
  ///
  /// - Throws: An error when one cannot be read.
  func fetch(_ request: Request) throws -> [Model]

  /// How many models ``fetch(_:)`` would give.
  ///
  /// - Throws: An error when one cannot be read.
  func count(_ request: Request) throws -> Int

  /// The models that `request` asks for: what is kept now, and then each time that this has changed.
  ///
  /// Each element is an array of its own, so that a step costs what the result costs. Every iteration
  /// begins anew. An error ends it.
  func values(of request: Request) -> any AsyncSequence<[Model], any Error> & Sendable

  // MARK: Editing

  /// Saves models that the app has made or edited: all are kept, or none.
  ///
  /// - Returns: How many were new or are different now. Models that would change nothing are not
  ///   written.
  /// - Throws: An error when one cannot be kept, `CancellationError` before the save began. Nothing
  ///   is changed then.
  @discardableResult
  func save(_ models: [Model]) async throws -> Int

  /// Changes one model in place: nothing is changed between what `body` reads and what is saved of
  /// it.
  ///
  /// ```swift
  /// try await contacts.update("seller-1") { $0.isFavourite = true }
  /// ```
  /// - Parameter body: Runs inside the write, so it should be quick, and must not write itself. It
  ///   may run again from its start, with the model as it is then. Must not change the id.
  /// - Returns: The model as it is now; nil where there was none, and `body` was not called.
  /// - Throws: Whatever `body` throws; an error when the model cannot be kept; `CancellationError`
  ///   before it began. Nothing is changed then.
  @discardableResult
  func update(
    _ id: Model.ID, _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> Model?

  /// Deletes the models with these ids; returns how many there were.
  ///
  /// - Throws: An error, or `CancellationError` before it began. Nothing is deleted then.
  @discardableResult
  func delete(_ ids: [Model.ID]) async throws -> Int

  // MARK: Refreshing

  /// Saves models that were downloaded, in place of what `request` asks for: what the answer no
  /// longer has is deleted in the same step. Without a request nothing is deleted.
  ///
  /// Not an edit: fields that only the user changes are left as they are, and nothing is sent back.
  ///
  /// - Returns: How many were inserted, changed or deleted.
  /// - Throws: An error when one cannot be kept, or for a request that asks for a part of what it
  ///   matches, such as the first twenty; `CancellationError` before it began. Nothing is changed
  ///   then.
  @discardableResult
  func refresh(_ models: [Model], replacing request: Request?) async throws -> Int
}
