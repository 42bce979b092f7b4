/// How long whoever begins to write waits for writers of other processes.
package struct WriteWait: Sendable {
  /// When it gives up, in seconds of ``now``; nil for never.
  package var deadline: Double?
  /// How long it waits where it has no deadline; nil for without end.
  package var timeoutSeconds: Double?
  /// Asked several times a second whether anybody still wants to write; nil where somebody always
  /// does.
  package var isWanted: (@Sendable () -> Bool)?
  /// Told once when it has waited for ``longSeconds``.
  package var tellsOfLong: (@Sendable (WriteHolder?) -> Void)?
  /// How often it looks whether whoever has the turn writes at all, in seconds. Where nobody does twice in a
  /// row, it goes on without the turn.
  package var checkSeconds = 1.0

  /// A writer of another process that has held the turn for so long is worth a word.
  package static var longSeconds: Double { 3 }

  /// Seconds of a clock that only goes forward.
  package static var now: Double { SystemCall.seconds }

  package init() {}
}
