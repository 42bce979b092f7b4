internal import LarderLMDB

/// The file that marks a folder for publications: whoever opened the store in it as any other would make locks,
/// and write to what the next publication replaces.
enum PublicationMark {
  static let name = "larder.published"

  static func isIn(_ folder: String) throws -> Bool { try WholeFile.exists(folder + "/" + name) }

  /// - Throws: ``StoreError/notAStore(path:reason:)`` for a folder that has it.
  static func refuse(_ folder: String) throws {
    if try Engine.storing(at: folder, { try isIn(folder) }) {
      throw StoreError.notAStore(
        path: folder,
        reason: "what is published there is only read: open it with `Store(published:)`, and "
          + "publish anew to replace it")
    }
  }
}
