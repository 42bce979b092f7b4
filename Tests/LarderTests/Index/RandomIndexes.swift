import Foundation
import LarderTestKit

@testable import Larder

/// Indexes of specimens, of every kind that there is, in random sets.
enum RandomIndexes {
  typealias Part = IndexPart<Specimen>

  private static let fields: [(Part, Part)] = [
    (.ascending(\.id), .descending(\.id)), (.ascending(\.name), .descending(\.name)),
    (.ascending(\.note), .descending(\.note)), (.ascending(\.count), .descending(\.count)),
    (.ascending(\.small), .descending(\.small)), (.ascending(\.step), .descending(\.step)),
    (.ascending(\.big), .descending(\.big)), (.ascending(\.bigger), .descending(\.bigger)),
    (.ascending(\.ratio), .descending(\.ratio)), (.ascending(\.weight), .descending(\.weight)),
    (.ascending(\.gauge), .descending(\.gauge)), (.ascending(\.level), .descending(\.level)),
    (.ascending(\.price), .descending(\.price)), (.ascending(\.cost), .descending(\.cost)),
    (.ascending(\.made), .descending(\.made)), (.ascending(\.sold), .descending(\.sold)),
    (.ascending(\.token), .descending(\.token)), (.ascending(\.parent), .descending(\.parent)),
    (.ascending(\.link), .descending(\.link)), (.ascending(\.source), .descending(\.source)),
    (.ascending(\.blob), .descending(\.blob)), (.ascending(\.digest), .descending(\.digest)),
    (.ascending(\.isOpen), .descending(\.isOpen)), (.ascending(\.mark), .descending(\.mark)),
    (.ascending(\.color), .descending(\.color)), (.ascending(\.shade), .descending(\.shade)),
    (.ascending(\.rank), .descending(\.rank)),
    (.ascending(\.base.lat), .descending(\.base.lat)),
    (.ascending(\.base.label), .descending(\.base.label)),
    (.ascending(\.base.place.word), .descending(\.base.place.word)),
    (.ascending(\.site.lat), .descending(\.site.lat)),
    (.ascending(\.site.label), .descending(\.site.label)),
    (.ascending(\.site.alias), .descending(\.site.alias)),
  ]

  private static let elements: [(Part, Part)] = [
    (.ascending(\.tags), .descending(\.tags)), (.ascending(\.numbers), .descending(\.numbers)),
    (.ascending(\.ratios), .descending(\.ratios)),
  ]

  static func declarations(
    count: Int, conditions: [Condition], using random: inout RandomSource
  ) -> [IndexDeclaration] {
    var declarations: [IndexDeclaration] = []
    while declarations.count < count {
      var parts: [IndexDeclaration.Part] = []
      for _ in 0..<random.int(1..<4) {
        let fields = random.once(in: 6) ? elements : fields
        let field = random.pick(fields)
        parts.append((random.bool() ? field.0 : field.1).part)
      }
      let paths = parts.map { $0.operand?.map(\.name) ?? [] }
      let isMultiple = paths.count { ["tags", "numbers", "ratios"].contains($0[0]) } > 1
      if isMultiple || Set(paths).count < paths.count { continue }
      var filter: FilterNode?
      if random.once(in: 4) {
        filter = random.pick(conditions).filter(Fields()).node
        if filter?.encoded() == nil { continue }
      }
      declarations.append(
        IndexDeclaration(
          name: "\(declarations.count)", parts: parts, isUnique: false, filter: filter))
    }
    return declarations
  }
}
