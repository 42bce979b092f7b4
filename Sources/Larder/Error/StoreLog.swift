internal import LarderLMDB
internal import Synchronization

/// Something that a store tells ``StoreOptions/log``.
///
/// The message is always the same for one kind of event; what differs is in the metadata. Nothing
/// above ``Level-swift.enum/debug`` holds a key or a value of a document.
public struct LogEvent: Sendable, Equatable {
  /// How much it matters, as loggers have it.
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    /// What a store does all the time.
    case debug
    /// What it does seldom: opening, changing its catalogue, migrating.
    case info
    /// What somebody should look at: a slow write, what another process left when it died.
    case warning
    /// What is wrong: a damaged record, a migration that stopped.
    case error

    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
  }

  /// How much it matters.
  public let level: Level
  /// What happened, in words that are the same each time.
  public let message: String
  /// To whom and how much, by names such as `collection` and `seconds`.
  public let metadata: [String: String]

  package init(level: Level, message: String, metadata: [String: String] = [:]) {
    self.level = level
    self.message = message
    self.metadata = metadata
  }
}

extension LogEvent: CustomStringConvertible {
  public var description: String {
    let details = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
    return "\(level): \(message)" + details.joined()
  }
}

/// Where the events of an engine go: to every open store of its folder that was given a log.
final class StoreLog: Sendable {
  typealias Sink = @Sendable (LogEvent) -> Void

  /// A write that takes longer is told of.
  static let slowWriteSeconds = 0.5

  static let silent = StoreLog()

  private let sinks = Locked<[ObjectIdentifier: Sink]>([:])
  private let sinkCount = Atomic<Int>(0)

  /// Whether anybody listens. Asked before anything is measured or made into words.
  var isActive: Bool { sinkCount.load(ordering: .relaxed) > 0 }

  func add(_ sink: @escaping Sink, of store: ObjectIdentifier) {
    sinks.withLock { $0[store] = sink }
    countSinks()
  }

  func remove(_ store: ObjectIdentifier) {
    sinks.withLock { $0[store] = nil }
    countSinks()
  }

  private func countSinks() {
    sinkCount.store(sinks.withLock { $0.count }, ordering: .relaxed)
  }

  /// Tells all that listen, one after the other, on the caller's thread.
  func tell(
    _ level: LogEvent.Level, _ message: @autoclosure () -> String,
    _ metadata: @autoclosure () -> [String: String] = [:]
  ) {
    guard isActive else { return }
    let event = LogEvent(level: level, message: message(), metadata: metadata())
    for sink in sinks.withLock({ Array($0.values) }) { sink(event) }
  }
}

extension StoreLog {
  func tellOfWrite(of changeCount: UInt64, _ duration: Duration) {
    guard duration > .seconds(Self.slowWriteSeconds) else { return }
    tell(
      .warning, "a write was slow",
      ["seconds": duration.secondsText, "changes": "\(changeCount)"])
  }

  func tellOfDamage(in collection: String, key: @autoclosure () -> String, _ reason: RecordError) {
    tell(.error, "a record cannot be read", ["collection": collection])
    // A key, and the value that a reason may name, are data.
    tell(
      .debug, "a record cannot be read",
      ["collection": collection, "key": key(), "reason": "\(reason)"])
  }

  func tellOfConflict(in collection: String, index: String, _ conflict: String) {
    let message = "a unique index has two documents with the same value"
    tell(.error, message, ["collection": collection, "index": index])
    // It names a value and two keys.
    tell(.debug, message, ["collection": collection, "index": index, "reason": conflict])
  }

  func tellOfUnknownCase(
    in collection: String, key: @autoclosure () -> String, _ reason: RecordError
  ) {
    let message = "a document has a case that this version of the app does not know"
    tell(.warning, message, ["collection": collection])
    tell(
      .debug, message, ["collection": collection, "key": key(), "reason": "\(reason)"])
  }

  func tellOfEviction(of collection: String, _ error: any Error) {
    let message = "old documents could not be evicted"
    tell(.warning, message, ["collection": collection])
    // It may name a key.
    tell(.debug, message, ["collection": collection, "error": "\(error)"])
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }

  /// With milliseconds, as events have it.
  var secondsText: String { "\((seconds * 1000).rounded() / 1000)" }
}
