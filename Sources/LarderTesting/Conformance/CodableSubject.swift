internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension RepositoryConformance {
  /// The values that ``RepositoryConformance`` puts into a repository of a plain `Codable` type.
  public struct CodableSample: Codable, Identifiable, Sendable, Equatable {
    public var id: String
    /// What most operations select by.
    public var group: String
    /// What most operations sort by.
    public var rank: Int
    /// A field that may be nil.
    public var note: String?
    var isHidden: Bool
    var firstGroup: String
    var label: String
  }
}

struct CodableSubject: ConformanceSubject {
  typealias Entity = CodableDocument<CodableSample>

  func model(_ sample: Sample) -> CodableSample {
    CodableSample(
      id: sample.id, group: sample.group, rank: sample.rank, note: sample.note,
      isHidden: sample.isHidden, firstGroup: sample.firstGroup, label: sample.label)
  }

  func entity(_ model: CodableSample, over stored: Sample?, as origin: ChangeOrigin) -> Sample {
    Sample(
      id: model.id, group: model.group, rank: model.rank, note: model.note,
      isHidden: model.isHidden, firstGroup: model.firstGroup, label: model.label)
  }

  func convert(_ entity: Sample) -> CodableSample? { model(entity) }
  func rank(of model: CodableSample) -> Int { model.rank }

  func changing(_ model: CodableSample, id: String?, rank: Int) -> CodableSample {
    var model = model
    model.id = id ?? model.id
    model.rank = rank
    return model
  }

  func matching(_ condition: SampleCondition) -> Query<Entity> {
    switch condition {
    case .group(let group): Entity.where { $0.group == group }
    case .rankBelow(let rank): Entity.where { $0.rank < rank }
    case .noNote: Entity.where { $0.note == nil }
    case .id(let id): Entity.where { $0.id == id }
    case .idAbove(let id): Entity.where { $0.id > id }
    case .idAboveButNotRank(let id, let rank): Entity.where { $0.id > id && !($0.rank == rank) }
    }
  }

  func sumOfRanks(
    _ repository: any Repository<CodableSample, Entity>, _ query: Query<Entity>
  ) throws -> Int {
    try repository.sum(\.rank, of: query)
  }

  func sorted(
    _ query: Query<Entity>, by order: SampleOrder, _ direction: SortOrder
  ) -> Query<Entity> {
    switch order {
    case .group: query.sorted(by: \.group, direction)
    case .rank: query.sorted(by: \.rank, direction)
    case .note: query.sorted(by: \.note, direction)
    }
  }
}
