#if os(Linux)
  import Foundation

  /// Locks of files, as the kernel tells them of each file that a process has open. Its list of all locks
  /// (`/proc/locks`) passes over some where others are taken or released meanwhile.
  package enum HeldLocks {
    /// The locks that any process has on a file or on what a folder holds, as far as they are granted: who
    /// only waits for one has none. Sorted; each says what kind it is, of which place of which file.
    package static func list(_ path: String) throws -> [String] {
      let names = files(path)
      var locks: Set<String> = []
      for process in try FileManager.default.contentsOfDirectory(atPath: "/proc")
      where Int(process) != nil {
        // Processes end, and files are closed, while this looks.
        let folder = "/proc/\(process)"
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd")
        for file in files ?? [] {
          var status = stat()
          guard stat("\(folder)/fd/\(file)", &status) == 0, let name = names[status.st_ino] else {
            continue
          }
          for lock in self.locks("\(folder)/fdinfo/\(file)") {
            locks.insert("\(lock.kind) of \(name) at \(lock.place)")
          }
        }
      }
      return locks.sorted()
    }

    /// The kind and the place of each lock that a process has by one of its open files.
    private static func locks(_ path: String) -> [(kind: String, place: String)] {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
      return text.split(separator: "\n").compactMap { line in
        let words = line.split(whereSeparator: \.isWhitespace)
        guard words.count == 9, words[0] == "lock:" else { return nil }
        return ("\(words[2]) \(words[4])", String(words[7]))
      }
    }

    /// The files below a folder that this process has open and locked itself.
    package static func ofThisProcess(_ folder: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
        // Some are closed while this looks.
        guard
          let target = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(name)"), target.hasPrefix(folder)
        else { return false }
        return !locks("/proc/self/fdinfo/\(name)").isEmpty
      }
    }

    /// Names of a file, or of what a folder holds, by the numbers of their inodes.
    private static func files(_ path: String) -> [ino_t: String] {
      var names: [ino_t: String] = [:]
      let inside = try? FileManager.default.subpathsOfDirectory(atPath: path)
      for name in [""] + (inside ?? []) {
        var status = stat()
        let file = name.isEmpty ? path : path + "/" + name
        if lstat(file, &status) == 0 { names[status.st_ino] = name }
      }
      return names
    }
  }
#endif
