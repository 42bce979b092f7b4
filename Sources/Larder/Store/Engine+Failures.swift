internal import LarderLMDB

extension Engine {
  /// Runs `body`, with LMDB's errors as the store's: what lacks room is ``StoreError/full(_:)``, what
  /// was cancelled is a `CancellationError`, and damage makes the next opener look at all pages.
  @inlinable func storing<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch { throw noting(error) }
  }

  /// The same for what concerns a folder that is not open.
  ///
  /// - Parameter neededByteCount: About how many bytes are written there; nil where that is not known.
  static func storing<Result>(
    at folder: String, neededByteCount: Int? = nil, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let error as LMDBError {
      guard let limit = StorageFailure.Code(error.code).flatMap(Shortage.Limit.init) else {
        throw StoreError(error)
      }
      throw StoreError.full(
        Shortage(
          path: folder, limit: limit,
          usedByteCount: Environment.fileByteCount(of: folder) ?? 0,
          freeByteCount: limit == .disk ? Environment.freeDiskByteCount(of: folder) : nil,
          neededByteCount: neededByteCount))
    }
  }

  /// The same for a copy of the store that is written to another folder: what lacks room is that
  /// folder's disk, and not the store's.
  func copying<Result>(to folder: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try Engine.storing(at: folder, neededByteCount: try? environment.reachedByteCount()) {
        try body()
      }
    } catch {
      guard case StoreError.full = error else { throw noting(error) }
      throw error
    }
  }

  @usableFromInline func noting(_ error: any Error) -> any Error {
    if let shortage = shortage(error) { return StoreError.full(shortage) }
    if (error as? LMDBError)?.code == .cancelled { return CancellationError() }
    let found = (error as? LMDBError).map { StoreError($0) } ?? error as? StoreError
    if let found, found.isDamage { noteSuspicion() }
    if environment.options.isPublished {
      return found?.ofPublication(at: environment.folder) ?? error
    }
    return found ?? error
  }

  /// Notes it once; a note that cannot be taken does not change what is thrown.
  func noteSuspicion() {
    let isFirst = isSuspected.withLock { isSuspected in
      defer { isSuspected = true }
      return !isSuspected
    }
    if isFirst, !environment.options.isReadOnly { environment.noteSuspicion() }
  }
}
