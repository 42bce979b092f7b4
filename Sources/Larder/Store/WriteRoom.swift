internal import Dispatch
internal import LarderLMDB

// What tasks save is encoded before it stands in the line, and a task that waits with it costs
// nothing else: without a bound, a thousand tasks that save faster than the disk is would fill the
// memory. So they wait for room first, and encode then.

/// How much may wait in the line, and those who wait for room in it, in their order.
final class WriteRoom: Sendable {
  private struct State {
    var waitingByteCount = 0
    var waiters = WaitingLine<CheckedContinuation<Void, any Error>>()
    /// Whether one who was let in has not stood in the line yet: what it brings is not known.
    var isLettingIn = false
  }

  private let limit: Int
  private let state = Locked(State())

  init(byteCount limit: Int) { self.limit = limit }

  /// How many wait for room.
  var waiterCount: Int { state.withLock { $0.waiters.count } }
  /// The bytes of what waits in the line.
  var waitingByteCount: Int { state.withLock { $0.waitingByteCount } }

  /// Returns once there is room. Whoever was let in makes the next one wait until its entry ends.
  ///
  /// - Parameters:
  ///   - timeoutSeconds: How long it waits at most; nil for without end.
  ///   - timedOut: Makes the error of one that has waited for so long.
  /// - Throws: `CancellationError` when the task is cancelled while it waits; what `timedOut` makes.
  func enter(
    timeoutSeconds: Double? = nil, timedOut: @escaping @Sendable () -> any Error
  ) async throws -> RoomEntry {
    let isFree = state.withLock { $0.waiters.isEmpty && $0.waitingByteCount < limit }
    if isFree { return RoomEntry(nil) }
    let place = Locked<(number: UInt64?, isCancelled: Bool)>((nil, false))
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let number = state.withLock { $0.waiters.append(continuation) }
        // What was cancelled before it stood there was not found.
        let isCancelled = place.withLock { place in
          place.number = number
          return place.isCancelled
        }
        if isCancelled { giveUp(number, CancellationError()) }
        if let timeoutSeconds {
          DispatchQueue.global().asyncAfter(deadline: .now() + timeoutSeconds) { [weak self] in
            self?.giveUp(number, timedOut())
          }
        }
        letIn()
      }
    } onCancel: {
      let number = place.withLock { place in
        place.isCancelled = true
        return place.number
      }
      if let number { giveUp(number, CancellationError()) }
    }
    return RoomEntry(self)
  }

  /// Waits without end.
  func enter() async throws -> RoomEntry { try await enter { CancellationError() } }

  private func giveUp(_ number: UInt64, _ error: @autoclosure () -> any Error) {
    let waiter = state.withLock { $0.waiters.remove(number) }
    waiter?.resume(throwing: error())
  }

  /// Something stands in the line.
  func take(_ byteCount: Int) { state.withLock { $0.waitingByteCount += byteCount } }

  /// Something has left the line.
  func giveBack(_ byteCount: Int) {
    state.withLock { $0.waitingByteCount -= byteCount }
    letIn()
  }

  fileprivate func endEntry() {
    state.withLock { $0.isLettingIn = false }
    letIn()
  }

  private func letIn() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      guard !state.isLettingIn, state.waitingByteCount < limit,
        let waiter = state.waiters.popFirst()
      else { return nil }
      state.isLettingIn = true
      return waiter
    }
    waiter?.resume()
  }
}

/// The leave to encode something and to stand in the line with it.
// Guard: `room` is touched by one task only, which was let in.
@usableFromInline final class RoomEntry: @unchecked Sendable {
  private var room: WriteRoom?

  fileprivate init(_ room: WriteRoom?) { self.room = room }

  deinit { end() }

  /// What was let in stands in the line, or will not.
  func end() {
    room?.endEntry()
    room = nil
  }
}
