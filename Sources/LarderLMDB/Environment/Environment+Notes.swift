internal import Synchronization

// What the next opening is told.
extension Environment {
  /// Notes that something in the store was found damaged: whoever opens it next, alone, looks at all
  /// pages first.
  public func noteSuspicion() {
    // Advice for the next opener, which a store that cannot take it opens without.
    guard let lock = try? OpeningLock.acquireAtOnce(files) else { return }
    lock.noteSuspicion()
  }

  /// Notes that a commit failed: without it what LMDB leaves of one looks like damage.
  func noteFailedCommit() {
    // Where the meta page could not be written LMDB puts the old one back, into the system's memory
    // only: after a loss of power the commit that failed could be there after all. Where the disk
    // fails once more, nobody can say what is on it.
    try? Calls.sync(pointer.raw, path: folder)
    let deadline = SystemCall.seconds + 1
    repeat {
      do throws(LMDBError) {
        guard let lock = try OpeningLock.acquireAtOnce(files) else {
          SystemCall.sleep(microseconds: 1000)
          continue
        }
        return try lock.note(.failed, isDurable: false)
      } catch {
        return  // The failure of the commit is the one to report.
      }
    } while SystemCall.seconds < deadline
  }

  /// Whether somebody else than LMDB has changed the file: nothing was committed since it was opened.
  private var isForeign: Bool {
    guard !hasWritten.load(ordering: .relaxed), let file = try? PageFile(files.data),
      case .success(let metas)? = try? MetaPages.read(file)
    else { return false }
    return metas.newest.transaction == transactionAtOpening
  }

  /// Notes that the last process closed the store. LMDB has closed; the registry still keeps others
  /// in this process out.
  func noteClosed() {
    // After a crash of the system, what is not on the disk must be looked at.
    guard options.durability != .volatile, lockIdentity != nil,
      let lock = try? OpeningLock.acquireAtOnce(files)
    else { return }
    // A store that is not noted as closed is looked at once more than needed.
    guard (try? files.isOpenElsewhere(except: dataIdentity)) == false,
      !OpenMark.isSet(.open, lock.descriptor),
      (try? lock.session()) == .open(dataIdentity),
      (try? SafeFiles.identity(files.data)) == dataIdentity
    else { return }
    if (try? SafeFiles.stamp(files.data)) != stampAtOpening {
      guard !isForeign else { return lock.noteSuspicion() }
      FileStamp.seal(files.data)
    }
    guard let stamp = try? SafeFiles.stamp(files.data) else { return }
    try? lock.note(.closed(stamp), isDurable: false)
  }
}
