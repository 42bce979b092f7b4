#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension URL {
  /// The path of a folder that a caller has given. The path of a URL of the network is somewhere else on this
  /// machine, and a store would be made there.
  ///
  /// - Throws: ``StoreError/notAStore(path:reason:)`` for a URL of another scheme than `file`.
  func folderPath() throws(StoreError) -> String {
    guard scheme == nil || isFileURL else {
      throw .notAStore(
        path: absoluteString,
        reason: "it is no URL of a file; make one with `URL(filePath:)` or `FileManager`")
    }
    return path(percentEncoded: false)
  }
}
