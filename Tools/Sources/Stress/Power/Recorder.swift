import Foundation

/// The library of `recorder.c`, which is loaded into a worker before all others.
struct Recorder {
  let path: String

  /// Compiles it into a folder; the toolchain that builds this program has a compiler for C.
  init(in folder: String) throws {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("recorder.c").path
    path = folder + "/recorder.so"
    let compiler = try ChildProcess(
      ["clang", "-O1", "-shared", "-fPIC", "-o", path, source, "-ldl"])
    guard compiler.wait() == 0 else {
      throw ChildProcess.Failed(description: "clang could not compile \(source)")
    }
  }

  /// What a process needs in its environment to have what it does below `root` written to `record`.
  func environment(root: String, record: String) -> [String: String] {
    ["LD_PRELOAD": path, "STRESS_RECORD_ROOT": root, "STRESS_RECORD": record]
  }
}
