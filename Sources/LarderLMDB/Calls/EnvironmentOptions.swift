/// How an environment is opened. All openings of one folder in a process need the same.
public struct EnvironmentOptions: Sendable {
  /// The largest size the store can grow to, reserved as address space and not as memory or
  /// disk. Halved at open as long as the system refuses it, down to 1 GiB.
  public var mapByteCount: Int = Self.defaultMapByteCount
  /// How many named databases can be open at once.
  public var maximumDatabaseCount = 256
  /// How many snapshots can exist at once, in all processes together; the first process to
  /// open the store decides.
  public var maximumReaderCount = 510
  /// Refuses writes, and accepts files that belong to other users.
  public var isReadOnly = false
  /// What a commit survives.
  public var durability = Durability.durable
  /// Opens a file that nobody writes to, and that others put a new one in the place of: to read only,
  /// and without any lock.
  public var isPublished = false
  /// How many threads one read may use, the caller's among them.
  public var readThreadCount = 1

  public init() {}

  /// The names of those that are not as in `other`.
  func differences(from other: Self) -> [String] {
    var names: [String] = []
    if mapByteCount != other.mapByteCount { names.append("mapByteCount") }
    if maximumDatabaseCount != other.maximumDatabaseCount { names.append("maximumDatabaseCount") }
    if maximumReaderCount != other.maximumReaderCount { names.append("maximumReaderCount") }
    if isReadOnly != other.isReadOnly { names.append("isReadOnly") }
    if durability != other.durability { names.append("durability") }
    if isPublished != other.isPublished { names.append("isPublished") }
    if readThreadCount != other.readThreadCount { names.append("readThreadCount") }
    return names
  }

  static let smallestHalvedMap = 1 << 30

  /// 128 GiB leave room for a thousand stores in one process, which has addresses for 2^47 bytes
  /// on x86-64. Phones limit it to far less.
  static var defaultMapByteCount: Int {
    #if os(Linux) || os(macOS)
      Int.bitWidth == 64 ? 1 << 37 : 1 << 30
    #else
      1 << 30
    #endif
  }

  /// What a commit survives.
  public enum Durability: Equatable, Sendable {
    /// Every commit that returned survives a crash of the program, the system, and a loss of
    /// power.
    case durable
    /// A loss of power or a system crash may undo the last commits, in order, although they
    /// returned; the store stays whole. Saves one of two flushes.
    case recentCommitsMayBeLost
    /// A loss of power or a system crash may destroy the whole store. For stores that are
    /// thrown away, such as those of tests.
    case volatile
  }
}
