/// How far a compaction, a backup or a restoration is.
public struct CopyProgress: Sendable, Equatable {
  /// A part of the work, in the order in which they come.
  public enum Step: Sendable, Equatable {
    /// Every document is read and compared with its checksum; counted in documents.
    case checking
    /// A copy is written; counted in bytes. The total is an estimate.
    case copying
  }

  /// What is being done.
  public let step: Step
  /// How much of ``total`` is done, counted as the step says.
  public let done: Int
  /// How much there is to do in this step, counted as the step says.
  public let total: Int
}
