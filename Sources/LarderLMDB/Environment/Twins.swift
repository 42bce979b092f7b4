internal import Dispatch
internal import Synchronization

// Several threads that read one moment. LMDB leaves a transaction to one thread at a time, so that each has one of its
// own; that all of them see the same is known by their numbers.

extension Transaction where Self: ~Copyable {
  /// Does a piece of work in parts, on several threads, each with a transaction that sees what this one sees.
  ///
  /// The parts are begun in their order. The caller's own thread takes its share, and waits for parts that others
  /// have begun. Cursors of this transaction must not be moved meanwhile.
  ///
  /// - Parameter body: What is done for a part, whose number it gets; of several at once.
  /// - Returns: Whether all parts were done. Otherwise nothing was, and one thread has to do: this transaction is not
  ///   one that ``canWorkInParallel``, somebody has written since it began, or few readers are free.
  package borrowing func inParallel(
    _ partCount: Int,
    _ body: @Sendable (_ part: Int, _ transaction: borrowing LentTransaction) -> Void
  ) -> Bool {
    guard partCount > 1, canWorkInParallel, let environment = handle.state.pointee.environment
    else { return false }
    let own = handle
    let id = id
    return environment._withUnsafeGuaranteedRef { environment in
      let most = environment.reserveTwins(min(partCount, environment.options.readThreadCount) - 1)
      defer { environment.twinCount.subtract(most, ordering: .relaxed) }
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
      // A transaction is used by one thread at a time, and the caller waits here.
      nonisolated(unsafe) let handles = [own] + (0..<count).map { twins[$0].handle }
      let next = Atomic<Int>(0)
      DispatchQueue.concurrentPerform(iterations: handles.count) { worker in
        while true {
          let part = next.add(1, ordering: .relaxed).oldValue
          guard part < partCount else { return }
          body(part, LentTransaction(handles[worker]))
        }
      }
      return true
    }
  }
}

extension Transaction where Self: ~Copyable {
  /// Whether several threads may work for this transaction: it is a reader, of an environment that allows it, in a
  /// process that can have further threads of Dispatch.
  package var canWorkInParallel: Bool {
    guard let environment = handle.state.pointee.environment else { return false }
    return environment._withUnsafeGuaranteedRef { $0.options.readThreadCount > 1 }
      && !Forks.isChild && SystemCall.mayUseTimers
  }
}

extension Environment {
  /// Takes some of the twins that there may be at once: an eighth of all readers, so that others find theirs.
  ///
  /// - Returns: How many, perhaps none. They are given back by counting ``twinCount`` down.
  fileprivate func reserveTwins(_ wanted: Int) -> Int {
    let before = twinCount.add(wanted, ordering: .relaxed).oldValue
    // The first process to open the store has said how many there are.
    let most = Calls.information(pointer.raw).maximumReaderCount / 8
    let granted = min(wanted, max(0, most - before))
    twinCount.subtract(wanted - granted, ordering: .relaxed)
    return granted
  }

  /// Another reader of the moment that a reader of the caller's sees. Waits for nobody who may wait for the caller,
  /// who is inside.
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
    let known = Calls.information(pointer.raw)
    guard
      // Half of the slots are left to those who have no other way to read.
      known.readerCount < known.maximumReaderCount / 2,
      case .begun(let transaction)? = try? Calls.begin(pointer.raw, readOnly: true, path: folder)
    else { return nil }
    return reader(transaction)
  }
}
