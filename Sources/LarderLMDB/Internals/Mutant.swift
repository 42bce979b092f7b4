// Guards that the stress campaigns take away, to see that they would notice. Only a build with
// `-Xswiftc -DLARDER_MUTANTS` has any of this: what ships has neither the switch nor its name.
#if LARDER_MUTANTS
  internal import Foundation

  /// One guard of the library that can be taken away for the life of a process.
  package enum Mutant: String, CaseIterable, Sendable {
    /// Opening does not wait for others that are opening.
    case openGuard = "open-guard"
    /// Links are followed wherever a file is looked at or opened.
    case followsLinks = "follows-links"
    /// Nothing is kept for deletes when the store or the disk is full.
    case reserveOff = "reserve-off"
    /// The reader slots of processes that died are not given back.
    case readerCheckOff = "reader-check-off"
    /// A write does not look whether the lock file and the data file are still in place.
    case lockInode = "lock-inode"

    /// Whether the environment of this process names it: `LARDER_MUTANT=open-guard`.
    package var isOn: Bool { Self.current == self }

    private static let current = ProcessInfo.processInfo.environment["LARDER_MUTANT"]
      .flatMap(Mutant.init)
  }
#endif
