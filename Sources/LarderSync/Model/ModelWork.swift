internal import Larder

/// A task that ends when the model that owns it does.
final class ModelWork: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) { self.task = task }

  deinit { task.cancel() }
}

/// Tells the model of the syncs that its stream asks for. Not one that holds the model: a sync may take
/// long, and nobody look any more.
struct ToldRefresh: Updater {
  let updater: any Updater
  let began: @MainActor @Sendable () -> Void
  let ended: @MainActor @Sendable (UpdateStatus?) -> Void

  var schedule: FetchLimiter? { updater.schedule }

  func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
    await began()
    do {
      let status = try await updater.sync(timing)
      await ended(status)
      return status
    } catch {
      await ended(nil)
      throw error
    }
  }
}

extension WatchSequence where Element == Void {
  /// One element, and then no other until the iteration is over.
  static var single: Self {
    Self {
      let (elements, continuation) = AsyncStream<Void>.makeStream()
      continuation.yield()
      return {
        // Without it nothing could come, and some would call that the end.
        defer { withExtendedLifetime(continuation) {} }
        var iterator = elements.makeAsyncIterator()
        return await iterator.next()
      }
    }
  }
}
