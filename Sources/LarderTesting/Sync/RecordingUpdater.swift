internal import LarderLMDB
public import LarderSync

/// An updater that asks nobody: it records how it was called, and ends as a test says.
///
/// ```swift
/// let updater = RecordingUpdater()
/// updater.outcome = .failure(Offline())
/// let events = contacts.stream(Contact.all, refreshedBy: updater)
/// ...
/// await updater.waitForCalls(1)
/// ```
public final class RecordingUpdater: Updater {
  /// What a call returns or throws.
  public typealias Outcome = Result<UpdateStatus, any Error>

  private let calls = Tally<SyncTiming>()
  private let ends = Tally<Void>()
  private let held = HeldCalls<UpdateStatus>()
  private let next: Locked<Outcome?>

  /// - Parameter outcome: How every call ends; nil holds calls until ``finish(_:)``.
  public init(_ outcome: Outcome? = .success(.alreadyCurrent)) { next = Locked(outcome) }

  /// How every call from now on ends; nil holds calls until ``finish(_:)``.
  public var outcome: Outcome? {
    get { next.withLock { $0 } }
    set { next.withLock { $0 = newValue } }
  }

  /// What each call has asked for, in the order in which they came.
  public var timings: [SyncTiming] { calls.elements }
  /// How often it was called.
  public var callCount: Int { calls.elements.count }
  /// Calls that have not ended.
  public var runningCount: Int { calls.elements.count - ends.elements.count }

  public func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
    defer { ends.append(()) }
    guard let outcome else { return try await held.hold { calls.append(timing) } }
    calls.append(timing)
    return try outcome.get()
  }

  /// Ends the call that has been held longest; false when none is. Wait for the call before, with
  /// ``waitForCalls(_:)``: a model shows that it refreshes a moment earlier.
  @discardableResult
  public func finish(_ outcome: Outcome) -> Bool { held.endFirst(outcome) }

  /// Returns when there were so many calls.
  public func waitForCalls(_ count: Int) async { await calls.wait(for: count) }

  /// Returns when so many calls have ended.
  public func waitForEnds(_ count: Int) async { await ends.wait(for: count) }
}
