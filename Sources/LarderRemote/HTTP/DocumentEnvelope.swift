internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// An answer whose documents were taken out: one of them that is no JSON, or is nested too deeply to stand inside of an
/// answer, must keep nobody from the others. Each is judged alone, where it is saved.
///
/// Finds where documents begin and end, and looks at nothing else: whether the rest is JSON, whoever reads it says.
struct DocumentEnvelope {
  /// The answer, with an object in place of each document: its one member has the name ``token`` and the place of the
  /// document in ``documents``.
  private(set) var bytes: [UInt8] = []
  private(set) var documents: [Data] = []
  /// Drawn by lot, so that no document can have it.
  let token = UUID.random().uuidString

  private let source: [UInt8]
  private var next = 0

  /// Where an object with documents stands: `{"changes": [{"document": ...}]}`, or in a result's `current`.
  private static let depths = 3...4
  private static let name = Array(#""document""#.utf8)

  /// Nil for what has no such documents, or ends inside of one.
  init?(_ answer: [UInt8]) {
    source = answer
    var depth = 0
    var copied = 0
    while next < source.count {
      let start = next
      depth += passToken()
      guard Self.depths.contains(depth),
        source[start..<min(next, source.count)] == Self.name[...], let value = documentAhead()
      else { continue }
      next = value
      guard passObject() else { return nil }
      bytes += source[copied..<value]
      bytes += Array(#"{"\#(token)":\#(documents.count)}"#.utf8)
      documents.append(Data(source[value..<next]))
      copied = next
    }
    if documents.isEmpty { return nil }
    bytes += source[copied...]
  }

  /// Where the object begins that is the value of the member whose name was passed; nil where it is another value.
  private func documentAhead() -> Int? {
    var place = next
    var hasColon = false
    while place < source.count {
      switch source[place] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): place += 1
      case UInt8(ascii: ":") where !hasColon:
        hasColon = true
        place += 1
      case UInt8(ascii: "{") where hasColon: return place
      default: return nil
      }
    }
    return nil
  }

  /// Passes a string, a bracket, or one other byte.
  ///
  /// - Returns: How much deeper it is nested behind that.
  private mutating func passToken() -> Int {
    let first = source[next]
    next += 1
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"): return -1
    case UInt8(ascii: "\""):
      while next < source.count, source[next] != UInt8(ascii: "\"") {
        next += source[next] == UInt8(ascii: "\\") ? 2 : 1
      }
      next += 1
      return 0
    default: return 0
    }
  }

  /// - Returns: Whether it has an end.
  private mutating func passObject() -> Bool {
    var depth = 0
    while next < source.count {
      depth += passToken()
      if depth == 0 { return true }
    }
    return false
  }
}
