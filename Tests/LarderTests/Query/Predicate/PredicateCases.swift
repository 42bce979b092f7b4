import Foundation
import Larder
import LarderTestKit

/// A predicate, and whether all of it can be turned into conditions.
struct PredicateCase {
  let predicate: Predicate<Specimen>
  let isLowered: Bool
  /// Whether it compares the order of texts, of which Swift knows none that are not normal.
  var comparesTexts = false

  init(_ predicate: Predicate<Specimen>, isLowered: Bool = true, comparesTexts: Bool = false) {
    self.predicate = predicate
    self.isLowered = isLowered
    self.comparesTexts = comparesTexts
  }

  typealias Maker = (inout RandomSource) -> PredicateCase

  static func random(using random: inout RandomSource) -> PredicateCase {
    all[random.int(0..<all.count)](&random)
  }

  nonisolated(unsafe) static let all: [Maker] =  // Immutable.
    comparisons + lists + texts + optionals + elements + leftOver + throwing

  // Each is small: the compiler takes long for larger ones.

  private static var comparisons: [Maker] {
    [
      {
        let v = $0.pick(Pool.integers); return .init(#Predicate { $0.count == v })
      },
      {
        let v = $0.pick(Pool.integers); return .init(#Predicate { $0.count != v })
      },
      {
        let v = $0.pick(Pool.integers); return .init(#Predicate { v < $0.count })
      },
      {
        let v = $0.pick(Pool.integers); return .init(#Predicate { v >= $0.base.visits })
      },
      {
        let v = $0.pick(Pool.doubles); return .init(#Predicate { $0.ratio <= v })
      },
      {
        let v = $0.pick(Pool.doubles); return .init(#Predicate { $0.ratio == v })
      },
      {
        let v = $0.pick(Pool.doubles); return .init(#Predicate { $0.base.lat > v })
      },
      {
        let v = $0.pick(Pool.floats); return .init(#Predicate { !($0.gauge < v) })
      },
      {
        let v = $0.pick(Pool.dates); return .init(#Predicate { $0.made <= v })
      },
      {
        let v = $0.pick(Pool.dates); return .init(#Predicate { $0.made > v })
      },
      {
        let v = $0.pick(Pool.decimals); return .init(#Predicate { $0.price < v })
      },
      {
        let v = $0.pick(Pool.ids); return .init(#Predicate { $0.token == v })
      },
      {
        let v = $0.pick(Pool.links); return .init(#Predicate { $0.link != v })
      },
      {
        let v = $0.pick(Pool.blobs); return .init(#Predicate { $0.blob == v })
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.name < v }, comparesTexts: true)
      },
      {
        let v = $0.pick(Specimen.Color.allCases); return .init(#Predicate { $0.color == v })
      },
      {
        let v = $0.maybe(Specimen.Color.allCases); return .init(#Predicate { $0.shade == v })
      },
      { _ in .init(#Predicate { $0.isOpen }) },
      { _ in .init(#Predicate { !$0.isOpen || $0.isNew }) },
      {
        let v = $0.pick(Pool.integers); return .init(#Predicate { $0.isOpen && $0.count > v })
      },
      {
        let v = $0.bool(); return .init(#Predicate { _ in v })
      },
      {
        let v = $0.bool(); return .init(#Predicate { $0.isOpen == v })
      },
      { _ in .init(#Predicate { $0.count == $0.base.visits }) },
      { _ in .init(#Predicate { $0.ratio < $0.base.lat }) },
      { _ in .init(#Predicate { $0.name != $0.base.label }) },
      { _ in .init(#Predicate { $0.isOpen ? $0.isNew : $0.tags.isEmpty }) },
      {
        let v = $0.int(0..<4); return .init(#Predicate { $0.tags.count > v })
      },
      {
        let v = $0.int(0..<4); return .init(#Predicate { $0.numbers.count == v })
      },
      {
        let v = $0.int(0..<4); return .init(#Predicate { $0.name.count <= v })
      },
      { _ in .init(#Predicate { $0.name.isEmpty }) },
    ]
  }

  private static var lists: [Maker] {
    [
      {
        let (v, w) = ($0.pick(Pool.integers), $0.pick(Pool.integers))
        let range = min(v, w)...max(v, w)
        return .init(#Predicate { range.contains($0.count) })
      },
      {
        let (v, w) = ($0.pick(Pool.integers), $0.pick(Pool.integers))
        let range = min(v, w)..<max(v, w)
        return .init(#Predicate { range.contains($0.base.place.code) })
      },
      {
        let v = min(100, $0.pick(Pool.bytes))
        return .init(#Predicate { (v...100).contains($0.small) })
      },
      {
        let v = $0.several(Pool.allTexts); return .init(#Predicate { v.contains($0.name) })
      },
      {
        let v = $0.several(Pool.allTexts) as [String?] + [$0.maybe(Pool.texts)]
        return .init(#Predicate { v.contains($0.note) })
      },
      {
        let v = Set($0.several(Pool.integers)); return .init(#Predicate { v.contains($0.count) })
      },
      {
        let v = $0.several(Specimen.Color.allCases)
        return .init(#Predicate { v.contains($0.color) })
      },
      {
        let v = $0.pick(Pool.allTexts); return .init(#Predicate { $0.tags.contains(v) })
      },
      {
        let v = $0.pick(Pool.integers); return .init(#Predicate { $0.numbers.contains(v) })
      },
      {
        let v = $0.pick(Pool.doubles); return .init(#Predicate { $0.ratios.contains(v) })
      },
    ]
  }

  private static var texts: [Maker] {
    [
      {
        let v = $0.pick(Pool.allTexts); return .init(#Predicate { $0.name == v })
      },
      {
        let v = $0.pick(Pool.texts); return .init(#Predicate { $0.name.contains(v) })
      },
      {
        let v = $0.pick(Pool.texts); return .init(#Predicate { $0.name.starts(with: v) })
      },
      {
        let v = $0.pick(Pool.texts); return .init(#Predicate { !$0.base.label.starts(with: v) })
      },
    ]
  }

  private static var optionals: [Maker] {
    [
      {
        let v = $0.pick(Pool.allTexts); return .init(#Predicate { $0.note == v })
      },
      {
        let v = $0.maybe(Pool.allTexts); return .init(#Predicate { $0.note != v })
      },
      { _ in .init(#Predicate { $0.note == nil }) },
      { _ in .init(#Predicate { $0.weight != nil }) },
      {
        let v = $0.maybe(Pool.doubles); return .init(#Predicate { $0.site?.lat == v })
      },
      {
        let v = $0.maybe(Pool.texts); return .init(#Predicate { $0.site?.alias == v })
      },
      {
        let v = $0.maybe(Pool.integers); return .init(#Predicate { $0.site?.place.code == v })
      },
      {
        let v = $0.pick(Pool.texts); return .init(#Predicate { ($0.note ?? "a") == v })
      },
      {
        let v = $0.pick(Pool.words); return .init(#Predicate { ($0.step ?? 1) > v })
      },
      {
        let v = $0.pick(Pool.doubles); return .init(#Predicate { ($0.site?.lat ?? 1) <= v })
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.note?.contains(v) ?? false })
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.note?.starts(with: v) ?? true })
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.note?.contains(v) == true })
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.note?.contains(v) != false })
      },
      {
        let v = $0.int(0..<3); return .init(#Predicate { $0.note?.count == v })
      },
      {
        let v = $0.pick(Pool.integers); return .init(#Predicate { $0.site?.visits == v })
      },
      {
        let v = $0.pick(Pool.integers)
        return .init(#Predicate { ($0.marks?.contains(v) ?? false) })
      },
    ]
  }

  private static var elements: [Maker] {
    [
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.tags.contains { $0 == v } })
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.tags.allSatisfy { $0.starts(with: v) } })
      },
      {
        let v = $0.pick(Pool.integers)
        return .init(#Predicate { $0.places.contains { $0.code < v } })
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.places.allSatisfy { $0.word != v } })
      },
      { _ in .init(#Predicate { $0.remarks.contains { $0 == nil } }) },
      {
        let v = $0.pick(Pool.texts)
        return .init(
          #Predicate { specimen in specimen.tags.contains { $0 == specimen.name || $0 == v } },
          isLowered: false)
      },
      { _ in
        .init(#Predicate { $0.places.contains { $0.isEven } }, isLowered: false)
      },
    ]
  }

  private static var leftOver: [Maker] {
    [
      {
        let v = $0.int(0..<4); return .init(#Predicate { $0.tags.count + 1 > v }, isLowered: false)
      },
      {
        let v = $0.int(0..<4); return .init(#Predicate { -$0.tags.count < -v }, isLowered: false)
      },
      {
        let v = $0.int(0..<3); return .init(#Predicate { $0.tags.count / 2 == v }, isLowered: false)
      },
      {
        let v = $0.int(0..<3); return .init(#Predicate { $0.tags.count % 2 == v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.doubles);
        return .init(#Predicate { $0.ratio / 2 > v }, isLowered: false)
      },
      {
        let v = $0.int(0..<4)
        return .init(#Predicate { ($0.isOpen ? $0.tags.count : 1) > v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.allTexts)
        return .init(#Predicate { $0.tags.filter { $0 == v }.isEmpty }, isLowered: false)
      },
      {
        let v = $0.maybe(Pool.integers)
        return .init(#Predicate { $0.numbers.max() == v }, isLowered: false)
      },
      {
        let v = $0.maybe(Pool.integers)
        return .init(#Predicate { $0.numbers.min() == v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { !$0.tags.isEmpty && $0.tags[0] == v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.scores[v] == 1 }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { $0.scores[v, default: 0] > 0 }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { ($0.either as? String) == v }, isLowered: false)
      },
      { _ in .init(#Predicate { $0.either is String }, isLowered: false) },
      {
        let v = $0.pick(Specimen.Rank.allCases)
        return .init(#Predicate { $0.rank < v }, isLowered: false)
      },
      { _ in .init(#Predicate { $0.isHeavy }, isLowered: false) },
      {
        let v = $0.pick(Pool.texts)
        return .init(
          #Predicate { one in one.note.flatMap { _ in one.name } == v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.allTexts); return .init(#Predicate { $0.title == v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.bytes)
        return .init(#Predicate { ($0.small...127).contains(v) }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.integers)
        return .init(#Predicate { $0.count < v && $0.tags.count + 1 > 2 }, isLowered: false)
      },
      { _ in .init(#Predicate { $0.name.contains(/a+b/) }, isLowered: false) },
    ]
  }

  private static var throwing: [Maker] {
    [
      {
        let v = $0.pick(Pool.texts)
        return .init(#Predicate { ($0.either as! String) == v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.texts); return .init(#Predicate { $0.note! == v }, isLowered: false)
      },
      {
        let v = $0.pick(Pool.texts); return .init(#Predicate { $0.tags[1] == v }, isLowered: false)
      },
    ]
  }
}
