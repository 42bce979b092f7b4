internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A folder through which a process hands documents to the one that has the store: an extension to its app,
/// a worker to a service.
///
/// ```swift
/// // In the extension:
/// try Mailbox(at: folder).post([Note(id: .timeOrdered(), text: shared)])
/// // In the app:
/// try await store.collect(Note.self, from: Mailbox(at: folder))
/// ```
/// Each letter is a file of its own, which is there whole or not at all, and no lock is taken in the folder
/// at any time. Nobody waits for anybody: letters pile up until they are collected.
public struct Mailbox: Sendable, Equatable {
  /// The folder, for letters and nothing else.
  public let folder: URL
  /// What the store knows the mailbox by, wherever its folder is: containers of apps are moved.
  public let name: String

  /// A mailbox in a folder, which the first letter makes; its parent must exist.
  ///
  /// - Parameter name: Another one for each mailbox that a store collects from; the folder's name where nil.
  public init(at folder: URL, name: String? = nil) {
    self.folder = folder
    self.name = name ?? folder.lastPathComponent
  }

  /// Puts a letter with these documents into the mailbox, and returns once it is on the disk.
  ///
  /// They are merged together or not at all, in the order in which letters were posted, as far as the clocks
  /// of the processes agree.
  ///
  /// - Returns: The letter's name.
  /// - Throws: ``StoreError``; there is no letter then.
  @discardableResult
  public func post<each Entity: Document>(_ documents: repeat [each Entity]) throws -> UUID {
    var saves: [(inout WriteScope) throws -> Int] = []
    repeat saves.append(Self.saving(each documents))
    let id = UUID.timeOrdered()
    try Store.withScratch("letter") { scratch in
      let made = try Store.makeWhole(in: scratch, saves)
      try Engine.storing(at: path, neededByteCount: made.byteCount) {
        try WholeFile.makeFolder(path, isLasting: true)
        try WholeFile.put(copying: made.file, at: file(of: id), unique: id.uuidString)
      }
    }
    return id
  }

  /// The letters that wait, in the order in which they were posted.
  ///
  /// - Throws: ``StoreError/storage(_:)`` where the folder cannot be read.
  public func letters() throws -> [UUID] {
    let names = try Engine.storing(at: path) { try WholeFile.names(in: path) ?? [] }
    return names.sorted().compactMap { name in
      name.hasSuffix(Self.suffix) ? UUID(uuidString: String(name.dropLast(Self.suffix.count))) : nil
    }
  }

  /// Takes a letter out of the mailbox without merging it, such as one that the store refuses; one that is not
  /// there any more is no error.
  ///
  /// - Throws: ``StoreError/storage(_:)`` where the folder cannot be changed.
  public func remove(_ letter: UUID) throws {
    try Engine.storing(at: path) { try WholeFile.remove(file(of: letter)) }
  }

  static let suffix = ".letter"

  var path: String {
    let path = folder.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  func file(of letter: UUID) -> String { path + "/" + letter.uuidString + Self.suffix }

  func removeLeftovers() { WholeFile.removeLeftovers(in: path) }

  private static func saving<Entity: Document>(
    _ documents: [Entity]
  ) -> (inout WriteScope) throws -> Int {
    { scope in
      try scope.save(documents)
      return documents.count
    }
  }
}

/// What was collected from a ``Mailbox``.
public struct MailboxReport: Sendable {
  /// Letters that were merged.
  public internal(set) var merged: [UUID] = []
  /// What their documents changed.
  public internal(set) var saves = SaveReport()
  /// Letters with documents of types that were not asked for, which wait on.
  public internal(set) var foreign: [UUID] = []
  /// Letters that could not be read, which wait on, and why.
  public internal(set) var unreadable: [UUID: any Error] = [:]
  /// Letters that there was no room for, or with a document that the store refuses, such as one with a unique value
  /// that another document has, and why. They wait on, and are tried again by the next collection;
  /// ``Mailbox/remove(_:)`` gives one up.
  public internal(set) var refused: [UUID: any Error] = [:]
}
