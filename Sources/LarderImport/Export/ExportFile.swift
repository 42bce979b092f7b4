#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An export's bytes on their way out.
///
/// An ordinary file is written beside its target, under another name, and takes the target's name
/// when it is whole; releasing it before leaves nothing behind.
struct ExportFile: ~Copyable {
  private let name: String
  private let descriptor: Int32
  private let isOurs: Bool
  /// The name that the file has until it is whole, and the one that it then gets.
  private let paths: (temporary: String, target: String)?
  private var isFinished = false
  private(set) var byteCount = 0

  /// - Parameter onTemporaryFile: As ``ExportOptions/onTemporaryFile``.
  /// - Throws: ``ExportError/io(file:code:)``; nothing is left behind.
  init(
    _ target: ExportTarget, onTemporaryFile: ((String) -> Void)? = nil
  ) throws(ExportError) {
    name = target.name
    switch target.origin {
    case .descriptor(let descriptor):
      self.descriptor = descriptor
      (isOurs, paths) = (false, nil)
    case .path(let path):
      isOurs = true
      (descriptor, paths) = try Self.open(path.get(), onTemporaryFile)
    }
  }

  deinit {
    // Nothing is lost: what has to be kept was synchronised before.
    if isOurs { _ = close(descriptor) }
    if let paths, !isFinished { _ = unlink(paths.temporary) }
  }

  /// - Throws: ``ExportError``.
  mutating func write(_ bytes: [UInt8]) throws(ExportError) {
    try note(bytes.withUnsafeBytes { SystemWrite.write($0, to: descriptor) }, bytes.count)
  }

  /// - Throws: ``ExportError``.
  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(ExportError) {
    try note(SystemWrite.write(bytes, to: descriptor), bytes.count)
  }

  private mutating func note(_ code: Int32, _ count: Int) throws(ExportError) {
    byteCount += count
    if code == EPIPE { throw .readerGone(file: name) }
    if code != 0 { throw .io(file: name, code: code) }
  }

  /// Brings the bytes to the disk and gives the file its name.
  ///
  /// - Throws: ``ExportError/io(file:code:)``; the target is as it was.
  mutating func finish() throws(ExportError) {
    guard let paths else { return }
    guard fsync(descriptor) == 0, rename(paths.temporary, paths.target) == 0 else {
      throw .io(file: name, code: errno)
    }
    isFinished = true
  }

  // MARK: Opening

  private static func open(
    _ path: String, _ onTemporaryFile: ((String) -> Void)?
  ) throws(ExportError) -> (Int32, (temporary: String, target: String)?) {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .io(file: path, code: EINVAL) }
    if let number = openDescriptor(path) {
      // Not what it was opened by: that may be a file, to whose end this is written.
      let descriptor = fcntl(number, F_DUPFD_CLOEXEC, 3)
      guard descriptor >= 0 else { throw .io(file: path, code: errno) }
      return (descriptor, nil)
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw .io(file: path, code: errno) }
      return try openBeside(
        try linkTarget(of: path), replacing: nil, name: path, onTemporaryFile)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      // A link stays one: what it names is replaced.
      guard let bytes = realpath(path, nil) else { throw .io(file: path, code: errno) }
      defer { free(bytes) }
      guard let real = String(validatingCString: bytes) else {
        throw .io(file: path, code: EILSEQ)
      }
      return try openBeside(real, replacing: status, name: path, onTemporaryFile)
    case S_IFDIR: throw .io(file: path, code: EISDIR)
    default:
      let descriptor = platformOpen(path, O_WRONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .io(file: path, code: errno) }
      return (descriptor, nil)
    }
  }

  /// The open descriptor that a path is another name of; nil for other paths.
  private static func openDescriptor(_ path: String) -> Int32? {
    if path == "/dev/stdout" { return STDOUT_FILENO }
    if path == "/dev/stderr" { return STDERR_FILENO }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count))
    }
    return nil
  }

  /// Where a file goes that is not there yet: a link that leads nowhere stays, too, and what it names is made.
  private static func linkTarget(of path: String) throws(ExportError) -> String {
    var target = path
    // As many as Linux follows.
    for _ in 0...40 {
      // No path is longer.
      var bytes = [CChar](repeating: 0, count: 4_096)
      let count = readlink(target, &bytes, bytes.count)
      guard count > 0 else { return target }
      guard
        let link = String(
          validating: bytes[..<count].lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
      else { throw .io(file: path, code: EILSEQ) }
      target = link.hasPrefix("/") ? link : folder(of: target) + link
    }
    throw .io(file: path, code: ELOOP)
  }

  /// The part of a path before the name, with its slash.
  private static func folder(of path: String) -> Substring {
    path.lastIndex(of: "/").map { path[...$0] } ?? ""
  }

  /// - Parameter old: The file that is replaced.
  private static func openBeside(
    _ target: String, replacing old: stat?, name: String, _ onTemporaryFile: ((String) -> Void)?
  ) throws(ExportError) -> (Int32, (temporary: String, target: String)?) {
    let folder = Self.folder(of: target)
    while true {
      let suffix = String(UInt64.random(in: 0 ... .max), radix: 36)
      let temporary = "\(folder).larder-export-\(suffix)"
      onTemporaryFile?(temporary)
      let descriptor = platformOpen(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else { throw .io(file: name, code: errno) }
      // Before the permissions, which it changes. Only a privileged process may give a file away; others may
      // leave it to a group that they are in, and what neither allows is theirs from now on.
      if let old, fchown(descriptor, old.st_uid, old.st_gid) != 0 {
        _ = fchown(descriptor, .max, old.st_gid)
      }
      if let old, fchmod(descriptor, old.st_mode & 0o7777) != 0 {
        let code = errno
        _ = close(descriptor)
        _ = unlink(temporary)
        throw .io(file: name, code: code)
      }
      return (descriptor, (temporary, target))
    }
  }
}

extension ExportError {
  /// A URL of another scheme than `file`, whose path is somewhere else on this machine.
  static func notOnDisk(_ url: String) -> ExportError { .io(file: url, code: EPROTONOSUPPORT) }
}

private func platformOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags, 0o666) }
