import Foundation
import Larder
import LarderTestKit

extension Condition {
  nonisolated(unsafe) static let operatorLeaves: [Leaf] =  // Immutable.
    measures + letters + relations + elements + elementConditions + enums

  // MARK: Counts and letters

  private static var measures: [Leaf] {
    [
      size({ $0.name.count }, { $0.name.isEmpty }, \.name),
      size({ $0.title.count }, { $0.title.isEmpty }, \.title),
      size({ $0.base.label.count }, { $0.base.label.isEmpty }, \.base.label),
      size({ $0.blob.count }, { $0.blob.isEmpty }, \.blob),
      size({ $0.tags.count }, { $0.tags.isEmpty }, \.tags),
      size({ $0.numbers.count }, { $0.numbers.isEmpty }, \.numbers),
      size({ $0.scores.count }, { $0.scores.isEmpty }, \.scores),
      size({ $0.places.count }, { $0.places.isEmpty }, \.places),
      size({ $0.remarks.count }, { $0.remarks.isEmpty }, \.remarks),
      size({ $0.words.count }, { $0.words.isEmpty }, \.words),
      size({ $0.note.count }, { $0.note.isEmpty }, \.note),
      size({ $0.site.label.count }, { $0.site.label.isEmpty }, \.site?.label),
      size({ $0.site.alias.count }, { $0.site.alias.isEmpty }, \.site?.alias),
      size({ $0.digest.count }, { $0.digest.isEmpty }, \.digest),
      size({ $0.labels.count }, { $0.labels.isEmpty }, \.labels),
      size({ $0.marks.count }, { $0.marks.isEmpty }, \.marks),
      size({ $0.spots.count }, { $0.spots.isEmpty }, \.spots),
    ]
  }

  private static func size<Elements: Collection>(
    _ count: @escaping Place<Int>, _ isEmpty: @escaping Place<Bool>,
    _ value: @escaping (Specimen) -> Elements
  ) -> Leaf {
    { random in
      if random.once(in: 3) {
        return Condition(filter: { isEmpty($0) == true }, holds: { value($0).isEmpty })
      }
      return ordered(count, { value($0).count }, [0, 1, 2, 3, 300])(&random)
    }
  }

  private static func size<Elements: Collection>(
    _ count: @escaping Place<Int?>, _ isEmpty: @escaping Place<Bool?>,
    _ value: @escaping (Specimen) -> Elements?
  ) -> Leaf {
    { random in
      if random.once(in: 3) {
        return Condition(filter: { isEmpty($0) == true }, holds: { value($0)?.isEmpty == true })
      }
      return ordered(count, { value($0)?.count }, [0, 1, 2, 3, 300])(&random)
    }
  }

  private static var letters: [Leaf] {
    [
      text({ $0.name.lowercased() }, { $0.name.lowercased() }),
      text({ $0.name.uppercased() }, { $0.name.uppercased() }),
      text({ $0.title.lowercased() }, { $0.title.lowercased() }),
      text({ $0.note.lowercased() }, { $0.note?.lowercased() }),
      text({ $0.note.uppercased() }, { $0.note?.uppercased() }),
      ordered(
        { $0.name.lowercased() }, { $0.name.lowercased() }, Pool.texts, TextOracle.normal),
      ordered(
        { $0.note.uppercased() }, { $0.note?.uppercased() }, Pool.texts, TextOracle.normal),
      ordered({ $0.name.lowercased().count }, { $0.name.lowercased().count }, [0, 1, 2]),
    ]
  }

  // MARK: Field against field

  private static var relations: [Leaf] {
    [
      relation({ $0.id }, { $0.name }, { ($0.id, $0.name) }, TextOracle.normal),
      relation({ $0.name }, { $0.note }, { ($0.name, $0.note) }, TextOracle.normal),
      relation({ $0.note }, { $0.name }, { ($0.note, $0.name) }, TextOracle.normal),
      relation({ $0.note }, { $0.site.alias }, { ($0.note, $0.site?.alias) }, TextOracle.normal),
      relation({ $0.title }, { $0.name }, { ($0.title, $0.name) }, TextOracle.normal),
      relation({ $0.name.lowercased() }, { $0.name }, { ($0.name.lowercased(), $0.name) }) {
        TextOracle.normal($0)
      },
      relation({ $0.count }, { $0.base.visits }, { ($0.count, $0.base.visits) }),
      relation({ $0.count }, { $0.site.visits }, { ($0.count, $0.site?.visits) }),
      relation({ $0.count }, { $0.tags.count }, { ($0.count, $0.tags.count) }),
      relation({ $0.big }, { $0.bigger }, { ($0.big, $0.bigger) }),
      relation({ $0.ratio }, { $0.weight }, { ($0.ratio, $0.weight) }),
      relation({ $0.weight }, { $0.site.lat }, { ($0.weight, $0.site?.lat) }),
      relation({ $0.base.lat }, { $0.ratio }, { ($0.base.lat, $0.ratio) }),
      relation({ $0.gauge }, { $0.level }, { ($0.gauge, $0.level) }),
      relation({ $0.price }, { $0.cost }, { ($0.price, $0.cost) }),
      relation({ $0.made }, { $0.sold }, { ($0.made, $0.sold) }),
      relation({ $0.parent }, { $0.token }, { ($0.parent, $0.token) }),
      { _ in Condition(filter: { $0.isOpen == $0.isNew }, holds: { $0.isOpen == $0.isNew }) },
      { _ in Condition(filter: { $0.mark != $0.isNew }, holds: { $0.mark != $0.isNew }) },
      { _ in Condition(filter: { $0.link == $0.source }, holds: { $0.link == $0.source }) },
      { _ in Condition(filter: { $0.blob != $0.digest }, holds: { $0.blob != $0.digest }) },
      { _ in Condition(filter: { $0.color == $0.shade }, holds: { $0.color == $0.shade }) },
      { _ in Condition(filter: { $0.shade != $0.color }, holds: { $0.shade != $0.color }) },
      { _ in Condition(filter: { $0.grade != $0.lastGrade }, holds: { $0.grade != $0.lastGrade }) },
      { _ in Condition(filter: { $0.shade == $0.shade }, holds: { _ in true }) },
    ]
  }

  private static func relation<Left: FieldValue, Right: FieldValue>(
    _ left: @escaping Place<Left>, _ right: @escaping Place<Right>,
    _ values: @escaping (Specimen) -> (Left, Right),
    _ normal: @escaping (Left.Bare) -> Left.Bare = { $0 }
  ) -> Leaf where Left.Bare == Right.Bare, Left.Bare: Comparable {
    func bare(_ specimen: Specimen) -> (Left.Bare?, Left.Bare?) {
      let (left, right) = values(specimen)
      return (left._bare.map(normal), right._bare.map(normal))
    }
    func both(_ holds: @escaping (Left.Bare, Left.Bare) -> Bool) -> (Specimen) -> Bool {
      { specimen in
        guard case (let left?, let right?) = bare(specimen) else { return false }
        return holds(left, right)
      }
    }
    return { random in
      switch random.int(0..<6) {
      case 0:
        Condition(filter: { left($0) == right($0) }, holds: { bare($0).0 == bare($0).1 })
      case 1:
        Condition(filter: { left($0) != right($0) }, holds: { bare($0).0 != bare($0).1 })
      case 2: Condition(filter: { left($0) < right($0) }, holds: both { $0 < $1 })
      case 3: Condition(filter: { left($0) <= right($0) }, holds: both { $0 <= $1 })
      case 4: Condition(filter: { left($0) > right($0) }, holds: both { $0 > $1 })
      default: Condition(filter: { left($0) >= right($0) }, holds: both { $0 >= $1 })
      }
    }
  }

  // MARK: Elements

  private static var elements: [Leaf] {
    [
      { random in
        let text = random.pick(Pool.allTexts)
        return Condition(
          filter: { $0.labels.contains(text) }, holds: { $0.labels?.contains(text) ?? false })
      },
      { random in
        let number = random.pick(Pool.integers)
        return Condition(
          filter: { $0.marks.contains(number) }, holds: { $0.marks?.contains(number) ?? false })
      },
      { random in
        let color = random.pick(Specimen.Color.allCases)
        return Condition(
          filter: { $0.colors.contains(color) }, holds: { $0.colors.contains(color) })
      },
      { random in
        let texts = random.several(Pool.allTexts)
        return Condition(
          filter: { $0.tags.containsAny(of: texts) },
          holds: { tagged in texts.contains { tagged.tags.contains($0) } })
      },
      { random in
        let texts = random.several(Pool.allTexts)
        return Condition(
          filter: { $0.labels.containsAny(of: texts) },
          holds: { tagged in texts.contains { tagged.labels?.contains($0) ?? false } })
      },
      { random in
        let numbers = random.array(0..<3) { $0.pick(Pool.integers) }
        return Condition(
          filter: { $0.numbers.containsAll(of: numbers) },
          holds: { $0.numbers.isSuperset(of: numbers) })
      },
      { random in
        let numbers = random.array(0..<3) { $0.pick(Pool.integers) }
        return Condition(
          filter: { $0.marks.containsAll(of: numbers) },
          holds: { $0.marks?.isSuperset(of: numbers) ?? false })
      },
      { random in
        let number = random.pick(Pool.integers)
        return Condition(
          filter: { $0.marks.allSatisfy { $0 <= number } },
          holds: { $0.marks?.allSatisfy { $0 <= number } ?? false })
      },
    ]
  }

  private static var elementConditions: [Leaf] {
    [
      { random in
        let part = random.pick(Pool.texts)
        return Condition(
          filter: { $0.tags.contains { $0.hasPrefix(part) } },
          holds: { $0.tags.contains { TextOracle.hasPrefix($0, part) } })
      },
      { random in
        let part = random.pick(Pool.texts)
        return Condition(
          filter: { $0.words.contains { $0.contains(part) && $0.count > 1 } },
          holds: { $0.words.contains { TextOracle.contains($0, part) && $0.count > 1 } })
      },
      { random in
        let part = random.pick(Pool.texts)
        return Condition(
          filter: { $0.labels.contains { $0.lowercased() == part } },
          holds: { $0.labels?.contains { $0.lowercased() == part } ?? false })
      },
      { random in
        let number = random.pick(Pool.integers)
        return Condition(
          filter: { $0.numbers.allSatisfy { $0 < number } },
          holds: { $0.numbers.allSatisfy { $0 < number } })
      },
      { random in
        let number = random.pick(Pool.doubles)
        return Condition(
          filter: { $0.ratios.contains { $0 < number || $0 == 1 } },
          holds: { $0.ratios.contains { $0 < number || $0 == 1 } })
      },
      { random in
        let (code, word) = (random.pick(Pool.integers), random.pick(Pool.texts))
        return Condition(
          filter: { $0.places.contains { $0.code < code && $0.word != word } },
          holds: { $0.places.contains { $0.code < code && $0.word != word } })
      },
      { random in
        let code = random.pick(Pool.integers)
        return Condition(
          filter: { $0.spots.contains { $0.code <= code && !$0.word.isEmpty } },
          holds: { $0.spots?.contains { $0.code <= code && !$0.word.isEmpty } ?? false })
      },
      { _ in
        Condition(
          filter: { $0.places.contains { $0.isEven == true } },
          holds: { $0.places.contains { $0.isEven } })
      },
      { _ in
        Condition(
          filter: { $0.remarks.contains { $0 == nil } },
          holds: { $0.remarks.contains { $0 == nil } })
      },
      { random in
        let color = random.pick(Specimen.Color.allCases)
        return Condition(
          filter: { $0.colors.allSatisfy { $0 == color } },
          holds: { $0.colors.allSatisfy { $0 == color } })
      },
    ]
  }

  // MARK: Enums

  private static var enums: [Leaf] {
    [
      ranked({ $0.rank }, \.rank, Specimen.Rank.allCases),
      ranked({ $0.grade }, \.grade, Specimen.Grade.allCases),
      ranked({ $0.code }, \.code, Pool.codes),
      ranked({ $0.lastGrade }, \.lastGrade, Specimen.Grade.allCases),
      ranked({ $0.lastCode }, \.lastCode, Pool.codes),
      { random in
        let colors = random.several(Specimen.Color.allCases)
        return Condition(
          filter: { $0.shade.isIn(colors) },
          holds: { $0.shade.map { colors.contains($0) } ?? false })
      },
    ]
  }

  private static func ranked<Value: RawRepresentable & Comparable & Sendable>(
    _ field: @escaping Place<Value>, _ value: @escaping (Specimen) -> Value, _ pool: [Value]
  ) -> Leaf where Value.RawValue: Comparand {
    { random in
      let other = random.pick(pool)
      return switch random.int(0..<6) {
      case 0: Condition(filter: { field($0) < other }, holds: { value($0) < other })
      case 1: Condition(filter: { field($0) <= other }, holds: { value($0) <= other })
      case 2: Condition(filter: { field($0) > other }, holds: { value($0) > other })
      case 3: Condition(filter: { field($0) >= other }, holds: { value($0) >= other })
      case 4: Condition(filter: { field($0).isIn(..<other) }, holds: { value($0) < other })
      default: Condition(filter: { field($0).isIn(other...) }, holds: { value($0) >= other })
      }
    }
  }

  private static func ranked<Value: RawRepresentable & Comparable & Sendable>(
    _ field: @escaping Place<Value?>, _ value: @escaping (Specimen) -> Value?, _ pool: [Value]
  ) -> Leaf where Value.RawValue: Comparand {
    func some(_ holds: @escaping (Value) -> Bool) -> (Specimen) -> Bool {
      { value($0).map(holds) ?? false }
    }
    return { random in
      let other = random.pick(pool)
      return switch random.int(0..<5) {
      case 0: Condition(filter: { field($0) < other }, holds: some { $0 < other })
      case 1: Condition(filter: { field($0) <= other }, holds: some { $0 <= other })
      case 2: Condition(filter: { field($0) > other }, holds: some { $0 > other })
      case 3: Condition(filter: { field($0) >= other }, holds: some { $0 >= other })
      default: Condition(filter: { field($0).isIn(...other) }, holds: some { $0 <= other })
      }
    }
  }
}
