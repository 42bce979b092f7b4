internal import Dispatch
internal import Synchronization

// Several threads that read one moment. LMDB leaves a transaction to one thread at a time, so that each has one of its
// own; that all of them see the same is known by their numbers.

extension Transaction where Self: ~Copyable {
  /// Does a piece of work in parts, on several threads, each with a transaction that sees what this one sees.
  ///
  /// The parts are begun in their order. The caller's own thread takes its share, so that this never waits for a
  /// thread that the system does not give. Cursors of this transaction must not be moved meanwhile.
  ///
  /// - Parameter body: What is done for a part, whose number it gets; of several at once.
  /// - Returns: False, and nothing was done, where one thread has to do: ``Environment/Options/readThreadCount`` is
  ///   1, somebody has written since this transaction began, no reader is free, this is a write, or the process was
  ///   forked.
  package borrowing func inParallel(
    _ partCount: Int,
    _ body: @Sendable (_ part: Int, _ transaction: borrowing LentTransaction) -> Void
  ) -> Bool {
    guard partCount > 1, let environment = handle.state.pointee.environment, !Forks.isChild else {
      return false
    }
    let own = handle
    let id = id
    return environment._withUnsafeGuaranteedRef { environment in
      let most = min(partCount, environment.options.readThreadCount) - 1
      guard most > 0 else { return false }
      let twins = UnsafeMutableBufferPointer<ReadTransaction>.allocate(capacity: most)
      var count = 0
      defer {
        for index in 0..<count { twins.deinitializeElement(at: index) }
        twins.deallocate()
      }
      while count < most, let twin = environment.beginTwin(of: id) {
        twins.initializeElement(at: count, to: twin)
        count += 1
      }
      guard count > 0 else { return false }
      let handles = [own] + (0..<count).map { twins[$0].handle }
      let next = Atomic<Int>(0)
      // A transaction is used by one thread at a time, and the caller waits here.
      nonisolated(unsafe) let lent = handles
      DispatchQueue.concurrentPerform(iterations: lent.count) { worker in
        while true {
          let part = next.add(1, ordering: .relaxed).oldValue
          guard part < partCount else { return }
          body(part, LentTransaction(lent[worker]))
        }
      }
      return true
    }
  }
}

extension Environment {
  /// Another reader of the moment that a reader of the caller's sees. Never waits: the caller, who is inside, may be
  /// what others wait for.
  ///
  /// - Parameter id: Of the caller's transaction.
  /// - Returns: Nil where somebody has written since, or no reader is to be had at once.
  func beginTwin(of id: Int) -> ReadTransaction? {
    guard lockPages?.makeReady() ?? true else { return nil }
    gate.enterAgain()
    guard let handle = twinHandle() else {
      gate.leave()
      return nil
    }
    let twin = ReadTransaction(handle, self, isLent: true)
    guard twin.id == id else { return nil }
    return twin
  }

  private func twinHandle() -> TransactionHandle? {
    if let handle = pool.take() {
      if Calls.renew(handle.pointer) == 0 { return handle }
      discard(handle)
      return nil
    }
    guard
      case .begun(let transaction)? = try? Calls.begin(pointer.raw, readOnly: true, path: folder)
    else { return nil }
    return reader(transaction)
  }
}
