internal import LarderLMDB

/// Owns one iteration of a stream: a task that pumps, begun by the first question and cancelled
/// when the iteration is released.
final class EventReader<Value: Sendable>: Sendable {
  private enum Work {
    case waiting(EventPump<Value>)
    case running(Task<Void, Never>)
    case over
  }

  private let mailbox = Mailbox<Value>()
  private let work: Locked<Work>

  init(_ pump: EventPump<Value>) { work = Locked(.waiting(pump)) }

  deinit { stop() }

  /// The next event; nil once the task is cancelled, and from then on.
  func next() async -> Event<Value>? {
    await withTaskCancellationHandler {
      if Task.isCancelled { return nil }  // The handler has run, or is about to.
      begin()
      return await mailbox.next()
    } onCancel: {
      stop()
    }
  }

  private func begin() {
    work.withLock { [mailbox] work in
      guard case .waiting(let pump) = work else { return }
      // It holds the mailbox and not this reader, which could not be let go of otherwise.
      work = .running(Task { await pump.run(into: mailbox) })
    }
  }

  private func stop() {
    let task = work.withLock { work -> Task<Void, Never>? in
      defer { work = .over }
      guard case .running(let task) = work else { return nil }
      return task
    }
    mailbox.abandon()
    task?.cancel()
  }
}
