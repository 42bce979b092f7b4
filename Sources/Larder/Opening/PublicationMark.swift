internal import LarderLMDB

/// The file that marks a folder for publications: whoever opened the store in it as any other would make locks,
/// and write to what the next publication replaces.
enum PublicationMark {
  static let name = "larder.published"

  static func isIn(_ folder: String) throws -> Bool { try WholeFile.exists(folder + "/" + name) }
}
