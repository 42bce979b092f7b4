/// Whether what a task brings from a remote is still wanted. Each write of the origin `.sync` asks in its
/// transaction, in whichever store or repository, so that nothing can come between the answer and the save.
package struct SyncPermit: Sendable {
  @TaskLocal private static var current: SyncPermit?

  private let check: @Sendable () throws -> Void

  /// - Parameter check: Throws where nothing more is to be saved.
  package init(_ check: @escaping @Sendable () throws -> Void) { self.check = check }

  /// Runs `body`, whose writes ask this permit and no other one.
  ///
  /// - Throws: What `body` throws. A write that is refused throws what the check does, and has changed nothing.
  package func required<Result>(by body: () async throws -> Result) async rethrows -> Result {
    try await Self.$current.withValue(self, operation: body)
  }

  /// What a write of the current task has to ask. To be called on the caller's side: bodies run where no task
  /// is current.
  static func needed(by origin: ChangeOrigin) -> SyncPermit? { origin == .sync ? current : nil }

  func ask() throws { try check() }
}
