import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

/// Somebody puts another store into the place of one, while it is worked on.
@Suite("a store that has taken another one's place is left alone")
struct ReplacedStoreTests {
  let folder = TestFolder()
  let other = TestFolder()

  init() throws {
    let environment = try Environment.open(at: other.store)
    try environment.store(["owner": "somebody else"])
    try environment.close()
  }

  private func compact(
    _ environment: Environment, prepare: (Environment) throws -> Void = { _ in }
  ) -> LMDBError? {
    failure {
      _ = try environment.compact(
        timeoutSeconds: 60, prepare: prepare, progress: { _, _ in true })
    }
  }

  private func moveIn(_ path: String, _ target: String) throws {
    try FileManager.default.moveItem(atPath: target, toPath: target + ".aside")
    try FileManager.default.moveItem(atPath: path, toPath: target)
  }

  private func opened() throws -> Environment {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["owner": "first"])
    return environment
  }

  @Test("a compaction is refused where another store's folder lies at its path")
  func folderReplaced() throws {
    let environment = try opened()
    try moveIn(other.store, folder.store)
    let bytes = try contents(of: folder.data)

    #expect(compact(environment)?.code == .lockFileReplaced)

    #expect(try contents(of: folder.data) == bytes)
    #expect(try environment.read("owner") == "first")
    try environment.close()
    #expect(try Environment.open(at: folder.store).read("owner") == "somebody else")
  }

  @Test("a compaction is refused where another data file lies there, from its begin or since then")
  func dataReplaced() throws {
    for isMeanwhile in [false, true] {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      try environment.store(["owner": "first"])
      let copy = other.path + "/copy"
      try FileManager.default.copyItem(atPath: other.data, toPath: copy)
      let bytes = try contents(of: copy)
      if !isMeanwhile { try moveIn(copy, folder.data) }

      let error = compact(environment) { _ in if isMeanwhile { try moveIn(copy, folder.data) } }

      #expect(error?.code == .lockFileReplaced)
      #expect(error?.path == folder.data)
      #expect(try contents(of: folder.data) == bytes)
      #expect(try environment.read("owner") == "first")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.store)
      #expect(!names.contains(".larder-staging"))
    }
  }

  @Test("a walk of all pages reads no other file than the one that is open")
  func checked() throws {
    let environment = try opened()
    #expect(try environment.checkPages().isSound)

    try moveIn(other.data, folder.data)

    #expect(code { _ = try environment.checkPages() } == .lockFileReplaced)
  }

  @Test("a restoration leaves alone what came into the folder meanwhile, into an empty one too")
  func restored() throws {
    let backup = try opened()
    for hasStore in [true, false] {
      let target = TestFolder()
      if hasStore { try Environment.open(at: target.store).close() }
      let came = target.path + "/came"
      try FileManager.default.copyItem(atPath: other.data, toPath: came)
      let bytes = try contents(of: came)

      let error = failure {
        _ = try backup.restore(
          to: target.store,
          prepare: { _ in
            if hasStore { unlink(target.data) }
            try FileManager.default.moveItem(atPath: came, toPath: target.data)
          }, progress: { _, _ in true })
      }

      #expect(error?.code == .lockFileReplaced)
      #expect(try contents(of: target.data) == bytes)
    }
  }

  @Test("a file is put in the place of the one that is expected, and of no other")
  func replacing() throws {
    let (path, target) = (folder.path + "/new", folder.path + "/old")
    func make() throws -> FileIdentity {
      try replaceContents(of: path, by: Data("new".utf8))
      try replaceContents(of: target, by: Data("old".utf8))
      return try #require(try SafeFiles.identity(target))
    }
    let old = try make()
    let new = try #require(try SafeFiles.identity(path))

    for expected in [new, nil] {
      #expect(
        code { try SafeFiles.replace(target, by: path, expecting: expected) } == .lockFileReplaced)
      #expect(try contents(of: target) == Data("old".utf8))
    }
    try SafeFiles.replace(target, by: path, expecting: old)
    #expect(try contents(of: target) == Data("new".utf8))
    unlink(target)
    try replaceContents(of: path, by: Data("new".utf8))
    #expect(
      code { try SafeFiles.replace(target, by: path, expecting: old) } == .lockFileReplaced)
    try SafeFiles.replace(target, by: path, expecting: nil)
    #expect(try contents(of: target) == Data("new".utf8))
  }
}
