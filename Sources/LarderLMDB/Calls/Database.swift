/// The handle of one database of an environment; good for the environment's whole life.
public struct Database: Hashable, Sendable {
  @usableFromInline let number: UInt32

  /// The unnamed database, whose keys include the names of all others.
  public static let main = Database(number: 1)

  /// LMDB's own list of free pages.
  static let freeList = Database(number: 0)

  /// The number of the first named database that is opened.
  static let firstNamed: UInt32 = 2
}
