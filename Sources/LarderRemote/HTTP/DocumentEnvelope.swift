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

  /// Where an object with documents stands: `{"changes": [{"document": ...}]}`, or in a result's `current`.
  private static let depths = 3...4
  private static let name = Array(#""document""#.utf8)

  /// Nil for what has no such documents, or ends inside of one.
  init?(_ answer: [UInt8]) {
    var skim = JSONSkim(answer)
    var depth = 0
    var copied = 0
    while !skim.isAtEnd {
      let start = skim.next
      depth += skim.passToken()
      guard Self.depths.contains(depth), skim.bytes(from: start) == Self.name[...],
        let value = skim.value(beginningWith: "{")
      else { continue }
      skim.next = value
      guard skim.passValue() else { return nil }
      bytes += answer[copied..<value]
      bytes += Array(#"{"\#(token)":\#(documents.count)}"#.utf8)
      documents.append(Data(skim.bytes(from: value)))
      copied = skim.next
    }
    if documents.isEmpty { return nil }
    bytes += answer[copied...]
  }
}
