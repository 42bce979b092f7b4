internal import LarderLMDB

/// The file that marks a folder for publications: whoever opened the store in it as any other would make locks,
/// and write to what the next publication replaces.
enum PublicationMark {
  static let name = "larder.published"

  /// Whether a folder has it. What a path is that cannot be asked about, opening says.
  static func isIn(_ folder: String) -> Bool {
    !folder.utf8.contains(0) && (try? WholeFile.exists(folder + "/" + name)) == true
  }

  /// - Throws: ``StoreError/notAStore(path:reason:)`` for a folder that has it.
  static func refuse(_ folder: String) throws(StoreError) {
    guard isIn(folder) else { return }
    throw .notAStore(
      path: folder,
      reason: "what is published there is only read: open it with `Store(published:)`, and "
        + "publish anew to replace it")
  }
}
