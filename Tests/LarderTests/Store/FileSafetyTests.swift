import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct FileSafetyTests {
  let folder = TestFolder()
  let note = Note(id: "a", nonce: "n", batchCount: 1)

  @Test("a link in place of the folder or a file is refused, and what it points to is untouched")
  func links() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    try store.close()
    let linked = folder.path + "/linked"
    symlink(folder.store, linked)
    expectUnsafe(linked)
    expectUnsafe(linked + "/")

    for path in [folder.data, folder.lock, folder.opening] {
      let victim = folder.path + "/victim"
      let original = try contents(of: path)
      for bytes in [Data("precious".utf8), original] {
        try replaceContents(of: victim, by: bytes)
        unlink(path)
        symlink(victim, path)
        expectUnsafe(folder.store)
        unlink(path)
        link(victim, path)
        expectUnsafe(folder.store)
        #expect(try contents(of: victim) == bytes)
        unlink(path)
        unlink(victim)
      }
      symlink(victim, path)
      expectUnsafe(folder.store)
      #expect(access(victim, F_OK) != 0, "a dangling link was followed")
      unlink(path)
      mkfifo(path, 0o600)
      expectUnsafe(folder.store)
      unlink(path)
      try replaceContents(of: path, by: original)
    }
    let again = try Store(at: folder.store)
    #expect(try again.repository(of: Note.self).fetch(Note.all) == [note])
    try verifyAndClose(again)
  }

  private func expectUnsafe(
    _ path: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = storeError(sourceLocation: sourceLocation) { _ = try Store(at: path) }
    guard case .storage(let failure)? = error, failure.code == .unsafeFile else {
      Issue.record("thrown was \(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
  }

  @Test("folder and files are for their owner's eyes only, whatever the umask says")
  func rights() throws {
    // In another process: the umask is one for all tests that run at the same time.
    let program = try OtherProcess.executable()
    for mask in ["000", "277"] {
      let path = folder.path + "/store-\(mask)"
      let other = try OtherProcess(running: [
        "sh", "-c", "umask \(mask); exec \(program) create \(path)",
      ])
      _ = try other.expect("saved")
      #expect(mode(of: path) == 0o700)
      for file in ["data.mdb", "lock.mdb", "larder.lock"] {
        #expect(mode(of: path + "/" + file) == 0o600, "\(file) under umask \(mask)")
      }
    }
  }

  @Test("no file of a store stays open in a program that this one runs")
  func descriptors() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)

    let listing = try OtherProcess.run("ls", "-l", "/proc/self/fd").lines
    #expect(listing.filter { $0.contains(folder.path) } == [])
    var own = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      guard let number = Int32(name),
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/" + name), target.hasPrefix(folder.store)
      else { continue }
      own += 1
      #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0, "\(target) is inherited")
    }
    #expect(own >= 2)
    try verifyAndClose(store)
  }
}
