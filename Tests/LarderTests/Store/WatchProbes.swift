import Dispatch
import LarderLMDB

@testable import Larder

extension WatchHub {
  /// How often the log was read for watchers.
  var roundCount: UInt64 { state.withLock { $0.round } }

  /// Leaves it to the bell to tell of commits.
  func stopLookingNowAndThen() {
    state.withLock { state in
      state.timer?.cancel()
      state.timer = nil
    }
  }
}

extension WatchSeat {
  /// Whether there was a mark, which is taken away.
  func takeMark() -> Bool {
    state.withLock { state in
      defer { state.isPending = false }
      return state.isPending
    }
  }
}
