import Foundation
import LarderTestKit

@testable import Larder

/// A document with an index of the words of all kinds of fields that may have some.
@Document
struct Pamphlet: Identifiable, Equatable {
  var id: Int
  var title = "untitled draft"
  var text: String?
  var tags: [String] = []
  var source = Source(name: "unknown paper", remarks: [])
  var place = 0

  @EmbeddedDocument
  struct Source: Equatable {
    var name: String
    var remarks: [String] = []
  }

  static let weights: [UInt32] = [5, 1, 3, 2, 1]

  /// The texts of each field of the index.
  var texts: [[String]] {
    [[title], [text].compactMap { $0 }, tags, [source.name], source.remarks]
  }

  static func random(_ id: Int, _ random: inout RandomSource) -> Pamphlet {
    var pamphlet = Pamphlet(id: id)
    if !random.once(in: 5) { pamphlet.title = words(0..<6, &random) }
    if !random.once(in: 4) { pamphlet.text = words(0..<30, &random) }
    pamphlet.tags = random.array(0..<4) { words(0..<3, &$0) }
    if random.bool() {
      pamphlet.source = Source(
        name: words(1..<3, &random), remarks: random.array(0..<3) { words(0..<4, &$0) })
    }
    return pamphlet
  }

  private static func words(_ counts: Range<Int>, _ random: inout RandomSource) -> String {
    random.array(counts) { word(&$0) }.joined(separator: random.pick([" ", ", ", ". "]))
  }

  static func word(_ random: inout RandomSource) -> String {
    random.pick(["oslo", "bergen", "fjord", "sea", "river", "boat", "draft", "paper"])
      + (random.once(in: 3) ? random.pick(["s", "side", "man"]) : "")
  }
}

extension Store {
  /// Declares the search index that the type itself does not declare.
  func declarePamphletWords() throws {
    try declare(Pamphlet.self)
    let fields = Fields<Pamphlet>()
    let index = IndexDeclaration(
      name: "words",
      parts: [
        .init(fields.title, isDescending: false), .init(fields.text, isDescending: false),
        .init(fields.tags, isDescending: false), .init(fields.source.name, isDescending: false),
        .init(fields.source.remarks, isDescending: false),
      ],
      isUnique: false, filter: nil, weights: Pamphlet.weights)
    try engine.writer.run {
      guard let collection = engine.catalogue["Pamphlet"] else { return }
      try engine.declare(Declaration(of: index, in: collection.description))
    }
  }

  var pamphletWords: CollectionIndex? {
    engine.catalogue["Pamphlet"]?.indexes.first { $0.name == "words" }
  }

  /// The frequencies that the index has of a word, by the keys of the documents; nil where there is no
  /// such index, or none that is complete.
  func pamphletFrequencies(of word: String) throws -> [Int: UInt32]? {
    guard let index = pamphletWords, index.isComplete else { return nil }
    return try read { snapshot in
      let reading = try SearchReading(
        index.database, weights: Pamphlet.weights, snapshot.transaction)
      let list = try reading.postings(of: .equals(Array(word.utf8)), snapshot.transaction)
      var found: [Int: UInt32] = [:]
      for (place, id) in list.ids.enumerated() {
        let key = try reading.document(id, snapshot.transaction).key
        let value = key.withUnsafeBytes { KeyKind.integer.value(of: $0) }
        guard case .integer(let number)? = value else { continue }
        found[Int(number)] = list.entries[place].frequency
      }
      return found
    }
  }
}

extension [Pamphlet] {
  /// The same, by looking at every document.
  func frequencies(of word: String) -> [Int: UInt32] {
    var found: [Int: UInt32] = [:]
    for pamphlet in self {
      let sum = zip(Pamphlet.weights, pamphlet.texts).reduce(UInt32(0)) { sum, field in
        let words = field.1.flatMap { $0.split { !$0.isLetter } }
        return sum + field.0 * UInt32(words.count { $0 == word })
      }
      if sum > 0 { found[pamphlet.id] = sum }
    }
    return found
  }
}
