#if os(Linux)
  import Foundation

  /// Locks of files as the kernel lists them.
  package enum HeldLocks {
    /// The locks that any process has on a file or on what a folder holds, as far as they are granted: who
    /// only waits for one has none. Sorted; each says what kind it is, of which place of which file.
    package static func list(_ path: String) throws -> [String] {
      let names = try files(path)
      // The kernel gives the list piece by piece, and passes over locks where others were taken or released
      // meanwhile. None that is there is passed over each time.
      return try (0..<5).reduce(into: Set()) { locks, _ in locks.formUnion(try listed(names)) }
        .sorted()
    }

    private static func listed(_ names: [String: String]) throws -> [String] {
      // The file system's number is another one on some: the inode's alone has to do.
      try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
        .compactMap { line in
          let words = line.split(separator: " ")
          guard words.count == 8, let inode = words[5].split(separator: ":").last,
            let name = names[String(inode)]
          else { return nil }
          return "\(words[1]) \(words[3]) of \(name) at \(words[6])"
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
        let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
        return text?.contains("\nlock:") == true
      }
    }

    private static func files(_ path: String) throws -> [String: String] {
      var names: [String: String] = [:]
      let inside = try? FileManager.default.subpathsOfDirectory(atPath: path)
      for name in [""] + (inside ?? []) {
        var status = stat()
        let file = name.isEmpty ? path : path + "/" + name
        if lstat(file, &status) == 0 { names["\(status.st_ino)"] = name }
      }
      return names
    }
  }
#endif
