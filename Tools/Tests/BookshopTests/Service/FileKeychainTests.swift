import Foundation
import Testing

@testable import Bookshop

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@MainActor struct FileKeychainTests {
  private let token = Token(phone: "+4790000000", value: "secret")

  /// Lends the path of a folder that does not exist yet, and deletes it afterwards.
  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "bookshop-\(UUID().uuidString).keychain")
    // What is left of a failed test is the system's to tidy up.
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.path(percentEncoded: false))
  }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test("a token is there for the next run, until the reader signs out")
  func kept() throws {
    try withFolder { folder in
      let keychain = FileKeychain(folder: folder)
      #expect(try keychain.token() == nil)
      try keychain.save(token)
      #expect(try FileKeychain(folder: folder).token() == token)
      try keychain.save(Token(phone: "+2", value: "other"))
      #expect(try FileKeychain(folder: folder).token() == Token(phone: "+2", value: "other"))
      try keychain.save(nil)
      #expect(try FileKeychain(folder: folder).token() == nil)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  @Test("only the owner can read the file, and enter its folder")
  func modes() throws {
    try withFolder { folder in
      try FileKeychain(folder: folder).save(token)
      #expect(try mode(folder + "/token") == 0o600)
      #expect(try mode(folder) == 0o700)
    }
  }

  #if os(Linux)
    @Test("the file has its mode from the beginning, and takes the old one's place in one step")
    func steps() throws {
      try withFolder { folder in
        let keychain = FileKeychain(folder: folder)
        try keychain.save(token)
        let before = try FileManager.default.attributesOfItem(atPath: folder + "/token")
        let watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        defer { close(watch) }
        try #require(
          inotify_add_watch(watch, folder, UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_MODIFY))
            >= 0)

        try keychain.save(Token(phone: "+2", value: "other"))

        let after = try FileManager.default.attributesOfItem(atPath: folder + "/token")
        #expect(before[.systemFileNumber] as? Int != after[.systemFileNumber] as? Int)
        let events = events(of: watch)
        #expect(events.contains { $0.mask & UInt32(IN_CREATE) != 0 && $0.name == "token.new" })
        #expect(events.contains { $0.mask & UInt32(IN_MOVED_TO) != 0 && $0.name == "token" })
        // A mode that is changed is an event of its own.
        #expect(!events.contains { $0.mask & UInt32(IN_ATTRIB) != 0 })
        #expect(!events.contains { $0.mask & UInt32(IN_MODIFY) != 0 && $0.name == "token" })
        #expect(try mode(folder + "/token") == 0o600)
      }
    }

    private func events(of watch: Int32) -> [(mask: UInt32, name: String)] {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(watch, &bytes, bytes.count)
      var events: [(mask: UInt32, name: String)] = []
      var start = 0
      while start < count {
        bytes.withUnsafeBytes { buffer in
          let mask = buffer.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
          let length = Int(buffer.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
          let name = buffer[(start + 16)..<(start + 16 + length)].prefix { $0 != 0 }
          events.append((mask, String(decoding: name, as: UTF8.self)))
          start += 16 + length
        }
      }
      return events
    }
  #endif

  @Test("what a killed run has left behind is no token, and is gone with the next one")
  func killed() throws {
    try withFolder { folder in
      let keychain = FileKeychain(folder: folder)
      try keychain.save(token)
      for draft in ["", #"{"phone": "+1", "va"#, #"{"phone":"+9","value":"never signed in"}"#] {
        try Data(draft.utf8).write(to: URL(filePath: folder + "/token.new"))
        #expect(try FileKeychain(folder: folder).token() == token)
        try keychain.save(token)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["token"])
      }
    }
  }

  @Test("a file that others can read, that is damaged, or that is a link is refused")
  func refused() throws {
    try withFolder { folder in
      let keychain = FileKeychain(folder: folder)
      try keychain.save(token)
      let file = folder + "/token"
      for mode in [0o640, 0o604, 0o666] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        #expect(throws: KeychainError.readable(byOthers: file)) { try keychain.token() }
      }
      try keychain.save(token)
      try Data("{}".utf8).write(to: URL(filePath: file))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
      #expect(throws: KeychainError.damaged(file)) { try keychain.token() }
      try FileManager.default.removeItem(atPath: file)
      try FileManager.default.createSymbolicLink(
        atPath: file, withDestinationPath: "/etc/hostname")
      #expect(throws: KeychainError.self) { try keychain.token() }
      try keychain.save(token)
      #expect(try keychain.token() == token)
    }
  }

  @Test("a folder that cannot be made is an error with its path")
  func noFolder() {
    let keychain = FileKeychain(folder: "/no/such/folder/keychain")
    #expect(
      throws: KeychainError.refused(
        "/no/such/folder/keychain", reason: "No such file or directory")
    ) { try keychain.save(token) }
  }
}
