import Foundation
import Larder
import LarderTestProcess
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct FullDiskTests {
  let folder = TestFolder()

  /// The numbers of the batches that a process saved before its next other line.
  private func saved(_ process: OtherProcess) -> (nonces: [String], next: String) {
    var nonces: [String] = []
    while let line = process.line() {
      guard line.hasPrefix("saved ") else { return (nonces, line) }
      nonces.append(String(line.split(separator: " ")[1]))
    }
    return (nonces, "it ended")
  }

  @Test("a file that may not grow is a typed error that loses nothing, and saves go on afterwards")
  func fileLimit() throws {
    let process = try OtherProcess("fill", folder.store, "400000")

    let (before, failure) = saved(process)

    #expect(failure.hasPrefix("error full "), "it said: \(failure)")
    #expect(before.count > 3)
    #expect(try process.expect("full").isEmpty)
    #expect(try process.expect("readable") == "\(before.count * 50)")
    process.goOn()
    let (after, verdict) = saved(process)
    #expect(after.count == 3)
    #expect(verdict == "sound")
    #expect(process.finish().isEmpty)
    let store = try Store(at: folder.store)
    let found = Dictionary(
      grouping: try store.repository(of: Note.self).fetch(Note.all), by: \.nonce)
    #expect(found.count == before.count + 3)
    #expect((before + after).allSatisfy { found[$0]?.count == 50 })
    try verifyAndClose(store)
  }

  @Test("a full disk is a typed error that loses nothing, and saves go on when there is room")
  func fullDisk() throws {
    try #require(geteuid() == 0, "this test mounts a small disk and needs root")
    let program = try OtherProcess.executable()
    // The mount belongs to the child alone and is gone with it. The file is room to give back.
    let script = """
      mount -t tmpfs -o size=1m none "$0" && head -c 400000 /dev/zero > "$0/ballast" &&
      exec "\(program)" fill "$0/store"
      """
    let process = try OtherProcess(running: ["unshare", "-m", "sh", "-c", script, folder.path])

    let (before, failure) = saved(process)

    #expect(failure.hasPrefix("error full "), "it said: \(failure)")
    #expect(before.count > 3)
    #expect(try process.expect("full").isEmpty)
    #expect(try process.expect("readable") == "\(before.count * 50)")
    unlink("/proc/\(process.id)/root\(folder.path)/ballast")
    process.goOn()
    let (after, verdict) = saved(process)
    #expect(after.count == 3)
    #expect(verdict == "sound")
    let copy = folder.path + "/copy"
    let copied = try OtherProcess.run(
      "cp", "-r", "/proc/\(process.id)/root\(folder.path)/store", copy)
    #expect(copied.status == 0)
    let store = try Store(at: copy)
    let found = Dictionary(
      grouping: try store.repository(of: Note.self).fetch(Note.all), by: \.nonce)
    #expect(found.count == before.count + 3)
    #expect((before + after).allSatisfy { found[$0]?.count == 50 })
    try verifyAndClose(store)
    #expect(process.finish().isEmpty)
  }

  @Test("at the largest size of a file large documents can be deleted, which makes room for others")
  func deletesAtFileLimit() throws {
    let process = try OtherProcess("delete-at-limit", folder.store)

    #expect(try process.expect("error full").contains("Raise the limit"))
    #expect(try process.expect("kept") == "true")
    #expect(try process.expect("deleted") == "true")
    #expect(try process.expect("saved") == "true")
    #expect(try process.expect("sound").isEmpty)
    #expect(process.finish().isEmpty)
  }

  @Test("on a full disk documents can be deleted, which makes room for others")
  func deletesOnFullDisk() throws {
    try #require(geteuid() == 0, "this test mounts a small disk and needs root")
    let program = try OtherProcess.executable()
    let script = """
      mount -t tmpfs -o size=4m none "$0" && exec "\(program)" delete-when-full "$0/store"
      """
    let process = try OtherProcess(running: ["unshare", "-m", "sh", "-c", script, folder.path])

    let failure = try process.expect("error full")

    #expect(failure.contains("The disk of the store at"))
    #expect(failure.contains("Free some space on the disk"))
    #expect(try process.expect("kept") == "true")
    #expect(try process.expect("deleted") == "true")
    #expect(try process.expect("saved") == "100")
    #expect(try process.expect("sound").isEmpty)
    #expect(process.finish().isEmpty)
  }
}
