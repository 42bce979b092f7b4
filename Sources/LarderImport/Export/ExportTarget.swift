#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where an export goes.
public struct ExportTarget: Sendable {
  enum Origin: Sendable {
    /// A failure for a URL of the network, whose path is somewhere else on this machine.
    case path(Result<String, ExportError>)
    case descriptor(Int32)
  }

  let origin: Origin
  /// What errors call it.
  public let name: String

  /// The file at `path`, made or replaced when everything is written, never in between. Of a file that is
  /// replaced the permissions are kept, and the owner where the system allows it. Of a link, what it names
  /// is made or replaced. What is no ordinary file (a pipe, a device) is written to as it is.
  public static func file(_ path: String) -> ExportTarget {
    ExportTarget(origin: .path(.success(path)), name: path)
  }

  /// The file at `url`; otherwise as ``file(_:)-(String)``. An export to a URL of another scheme than `file`
  /// throws ``ExportError/io(file:code:)``.
  public static func file(_ url: URL) -> ExportTarget {
    guard url.mayBeFile else {
      let name = url.absoluteString
      return ExportTarget(origin: .path(.failure(.notOnDisk(name))), name: name)
    }
    return file(url.path(percentEncoded: false))
  }

  /// What stands between the fields of a table where nothing else is said.
  var delimiter: CSVDelimiter {
    guard case .path(.success(let path)) = origin, path.lowercased().hasSuffix(".tsv") else {
      return .comma
    }
    return .tab
  }

  /// An open descriptor from where it stands; the caller closes it.
  public static func descriptor(_ descriptor: Int32, name: String) -> ExportTarget {
    ExportTarget(origin: .descriptor(descriptor), name: name)
  }

  /// Standard output.
  public static let standardOutput = descriptor(STDOUT_FILENO, name: "standard output")
}

extension URL {
  /// Whether its path is one of this machine.
  var mayBeFile: Bool { scheme == nil || isFileURL }
}

/// What kept an export from being written.
public enum ExportError: Error, Equatable, Sendable {
  /// The system could not make, write or replace the file; the code is its `errno`.
  case io(file: String, code: Int32)
  /// Nobody reads the pipe any more. That is for the caller to judge: `head` does so.
  case readerGone(file: String)
}

extension ExportError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .io(let file, let code):
      "\(printable(file)) cannot be written: \(ImportError.phrase(code))"
    case .readerGone(let file): "\(printable(file)): nobody reads it any more"
    }
  }
}

extension ExportError: LocalizedError {
  public var errorDescription: String? { description }
}
