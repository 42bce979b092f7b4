import Foundation
import LarderTestKit

@testable import Larder

/// Holds the writer's line while `submit` runs, so that what it submits stands there together.
/// `wait` returns once so many do.
func together(
  _ store: Store, _ submit: (_ wait: (Int) async -> Void) async throws -> Void
) async throws {
  let gate = DispatchSemaphore(value: 0)
  let isHeld = Flag()
  store.engine.writer.enqueue {
    isHeld.set()
    gate.wait()
  }
  defer { gate.signal() }
  while !isHeld.isSet, !Task.isCancelled { await Task.yield() }
  try await submit { count in
    while store.engine.writer.waitingCount < count, !Task.isCancelled { await Task.yield() }
  }
}
