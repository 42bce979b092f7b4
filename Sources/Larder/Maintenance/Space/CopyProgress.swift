/// How far a compaction, a backup or a restoration is.
public struct CopyProgress: Sendable, Equatable {
  public enum Step: Sendable, Equatable {
    /// Every document is read and compared with its checksum; counted in documents.
    case checking
    /// A copy is written; counted in bytes. The total is an estimate.
    case copying
  }

  public let step: Step
  public let done: Int
  public let total: Int
}
