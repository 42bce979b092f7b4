import Foundation
import Larder

extension Ordering {
  /// By the fields as a condition names them.
  nonisolated(unsafe) static let fields: [Maker] = [  // Immutable.
    by({ $0.sorted(by: \.name, $1) }, { TextOracle.normal($0.name) }),
    by({ $0.sorted(by: \.base.place.code, $1) }, { $0.base.place.code }),
    by({ $0.sorted(by: \.base.lat, $1) }, { $0.base.lat }, isNaN: \.isNaN),
    by({ $0.sorted(by: \.site.lat, $1) }, { $0.site?.lat }, isNaN: \.isNaN),
    by({ $0.sorted(by: \.site.alias, $1) }, { $0.site?.alias.map(TextOracle.normal) }),
    by({ $0.sorted(by: \.tags.count, $1) }, { $0.tags.count }),
    by({ $0.sorted(by: \.labels.count, $1) }, { $0.labels?.count }),
    by({ $0.sorted(by: \.isOpen, $1) }, { $0.isOpen ? 1 : 0 }),
    by({ $0.sorted(by: \.mark, $1) }, { $0.mark.map { $0 ? 1 : 0 } }),
    by({ $0.sorted(by: \.isHeavy, $1) }, { $0.isHeavy ? 1 : 0 }),
    by({ $0.sorted(by: \.tags.isEmpty, $1) }, { $0.tags.isEmpty ? 1 : 0 }),
    by({ $0.sorted(by: \.rank, $1) }, { $0.rank }),
    by({ $0.sorted(by: \.grade, $1) }, { $0.grade }),
    by({ $0.sorted(by: \.lastGrade, $1) }, { $0.lastGrade }),
    by({ $0.sorted(by: \.total, $1) }, { $0.total }),
  ]

  /// With a place for nil.
  nonisolated(unsafe) static let placed: [(SortOrder, NilPlacement?) -> Ordering] = [  // Immutable.
    by({ $0.sorted(by: \.note, $1, nils: $2) }, { $0.note.map(TextOracle.normal) }),
    by({ $0.sorted(by: \.step, $1, nils: $2) }, { $0.step }),
    by({ $0.sorted(by: \.weight, $1, nils: $2) }, { $0.weight }, isNaN: \.isNaN),
    by({ $0.sorted(by: \.site.visits, $1, nils: $2) }, { $0.site?.visits }),
    by({ $0.sorted(by: \.mark, $1, nils: $2) }, { $0.mark.map { $0 ? 1 : 0 } }),
    by({ $0.sorted(by: \.lastGrade, $1, nils: $2) }, { $0.lastGrade }),
    by({ $0.sorted(by: \.total, $1, nils: $2) }, { $0.total }),
    by({ $0.sorted(by: \.site?.visits, $1, nils: $2) }, { $0.site?.visits }),
  ]

  private static func by<Value: Comparable>(
    _ sort: @escaping (Query<Specimen>, SortOrder) -> Query<Specimen>,
    _ value: @escaping (Specimen) -> Value?, isNaN: @escaping (Value) -> Bool = { _ in false }
  ) -> Maker {
    { direction in
      Ordering(
        sort: { sort($0, direction) },
        compare: { directed(compare(value($0), value($1), isNaN), direction) })
    }
  }

  private static func by<Value: Comparable>(
    _ sort: @escaping (Query<Specimen>, SortOrder, NilPlacement?) -> Query<Specimen>,
    _ value: @escaping (Specimen) -> Value?, isNaN: @escaping (Value) -> Bool = { _ in false }
  ) -> (SortOrder, NilPlacement?) -> Ordering {
    { direction, nils in
      Ordering(
        sort: { sort($0, direction, nils) },
        compare: {
          let (first, second) = (value($0), value($1))
          guard let nils, (first == nil) != (second == nil) else {
            return directed(compare(first, second, isNaN), direction)
          }
          return (first == nil) == (nils == .first) ? -1 : 1
        })
    }
  }
}
