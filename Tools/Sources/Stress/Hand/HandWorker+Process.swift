import Foundation
import Larder

// What a hand does to its own process.

extension HandWorker {
  /// Nil where it is nothing of the kind.
  func performOnProcess(_ name: String, _ words: [String]) throws -> [String]? {
    func word(_ index: Int) throws -> String {
      guard index < words.count else { throw UsageError("\(name) needs more words") }
      return words[index]
    }
    func number(_ index: Int) throws -> Int {
      guard let number = Int(try word(index)) else { throw UsageError("\(name): no number") }
      return number
    }
    func must(_ status: Int32, _ what: String) throws {
      guard status == 0 else { throw UsageError("\(what): \(String(cString: strerror(errno)))") }
    }

    switch name {
    case "read-file": return ["\(try Data(contentsOf: URL(fileURLWithPath: try word(0))).count)"]
    case "copy-folder":
      try FileManager.default.copyItem(atPath: try word(0), toPath: try word(1))
    case "chdir": try must(chdir(try word(0)), name)
    case "umask": umask(mode_t(try number(0)))
    case "unset": unsetenv(try word(0))
    case "become":
      try must(setgroups(0, nil), "setgroups")
      try must(setgid(gid_t(try number(0))), "setgid")
      try must(setuid(uid_t(try number(0))), "setuid")
    case "limit":
      let kinds = ["files": RLIMIT_NOFILE, "size": RLIMIT_FSIZE, "addresses": RLIMIT_AS]
      guard let kind = kinds[try word(0)] else { throw UsageError("limit \(try word(0))") }
      var limit = rlimit()
      try must(getrlimit(__rlimit_resource_t(kind.rawValue), &limit), "getrlimit")
      // Addresses are counted from what the process has already.
      let base = try word(0) == "addresses" ? addressByteCount : 0
      limit.rlim_cur = try word(1) == "none" ? limit.rlim_max : rlim_t(base + (try number(1)))
      try must(setrlimit(__rlimit_resource_t(kind.rawValue), &limit), "setrlimit")
    case "ignore": signal(Int32(try number(0)), SIG_IGN)
    case "take-descriptors":
      while true {
        let descriptor = Foundation.open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { break }
        stores.descriptors.append(descriptor)
      }
      // Some are given back, for whoever may have so many.
      for _ in 0..<(try number(0)) {
        if let descriptor = stores.descriptors.popLast() { Foundation.close(descriptor) }
      }
    case "give-descriptors":
      for descriptor in stores.descriptors { Foundation.close(descriptor) }
      stores.descriptors = []
    case "open-without-standard":
      let standard: ClosedRange<Int32> = 0...2
      for descriptor in standard { dup2(descriptor, 200 + descriptor) }
      for descriptor in standard { Foundation.close(descriptor) }
      defer { for descriptor in standard { dup2(200 + descriptor, descriptor) } }
      stores.put(try Store(at: try word(1)), try word(0))
      // As anybody does who complains.
      let bytes = Array(String(repeating: "warning: ", count: 1000).utf8)
      for descriptor in standard { _ = write(descriptor, bytes, bytes.count) }
    case "inherited":
      // What a program has open that this one runs.
      let child = try ChildProcess(["/bin/sh", "-c", "ls -l /proc/self/fd"])
      return child.lines()
    case "run":
      let child = try ChildProcess(words)
      guard child.wait() == 0 else { throw UsageError("\(words.joined(separator: " ")) failed") }
    case "forked":
      return try forked { try perform(try word(0), Array(words.dropFirst())) }
    default: return nil
    }
    return []
  }

  private var addressByteCount: Int {
    let line = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = line?.split(separator: " ").first.flatMap { Int($0) }
    return (pages ?? 0) * 4096  // Without /proc the limit is too small, and the case says so.
  }
}
