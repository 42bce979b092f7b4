#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Whoever holds something for a while, as a named consumer does, may be killed meanwhile. A lock of the
// kernel ends with its process, and others see at once that nobody holds it any more.

extension CommitBell {
  /// Of the byte that stands for a number, behind those of the ``WriteTurn`` and of the listeners. No
  /// byte is there: only locked places are.
  private static func place(of number: UInt64) -> off_t {
    1 << 21 + off_t(number >> 4)
  }

  static func hold(_ number: UInt64, _ descriptor: Int32) -> Bool {
    set(F_WRLCK, number, descriptor)
  }

  static func set(_ kind: Int32, _ number: UInt64, _ descriptor: Int32) -> Bool {
    #if os(Linux)
      var lock = FileRange.lock(kind, at: place(of: number))
      return fcntl(descriptor, FileRange.set, &lock) == 0
    #else
      return false
    #endif
  }

  /// Whether another process holds a number; true where that cannot be found out.
  func isHeldElsewhere(_ number: UInt64) -> Bool {
    #if os(Linux)
      withDescriptor { descriptor in
        var lock = FileRange.lock(F_WRLCK, at: Self.place(of: number))
        return fcntl(descriptor, FileRange.ask, &lock) == -1 || lock.l_type != Int16(F_UNLCK)
      } ?? true
    #else
      true
    #endif
  }
}

extension Environment {
  /// Has the kernel say that this process holds a random number, until it is released, the environment
  /// is closed, or the process ends; false where the kernel cannot. While the environment is suspended
  /// the kernel does not say so, and others may take what the number stands for.
  package func hold(_ number: UInt64) -> Bool {
    // What a forked child says of the file it would say for its parent.
    forkCount == Forks.current && bell?.hold(number) == true
  }

  /// Whether the kernel says that this process holds a number, or will again once the environment is
  /// resumed.
  package func holds(_ number: UInt64) -> Bool { bell?.holds(number) == true }

  package func release(_ number: UInt64) {
    if forkCount == Forks.current { bell?.release(number) }
  }

  /// Whether another process holds a number; true where that cannot be found out.
  package func isHeldElsewhere(_ number: UInt64) -> Bool { bell?.isHeldElsewhere(number) ?? true }

  /// Another number after each start of the system, never zero; where the system does not tell, another
  /// one in each process.
  package static let boot: UInt64 = {
    guard let id = SystemCall.bootID else { return .random(in: 1 ... .max) }
    let hash = FileStamp.mixed(id.utf8.map { UInt64($0) })
    return hash == 0 ? 1 : hash
  }()
}
