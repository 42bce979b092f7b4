internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The models that a repository under test holds, and how each is stored.
protocol ConformanceSubject: Sendable {
  associatedtype Model: Sendable & Equatable
  associatedtype Entity: Document where Entity.Key == String

  /// The model that says what `sample` says, except for what only the device knows.
  func model(_ sample: Sample) -> Model
  /// What a change of this origin stores for `model` where `stored` was before.
  func entity(_ model: Model, over stored: Sample?, as origin: ChangeOrigin) -> Sample
  /// What is read of an entity.
  func convert(_ entity: Sample) -> Model?
  /// The model with another rank.
  func changing(_ model: Model, id: String?, rank: Int) -> Model
  func rank(of model: Model) -> Int
  func matching(_ condition: SampleCondition) -> Query<Entity>
  func sorted(_ query: Query<Entity>, by order: SampleOrder, _: SortOrder) -> Query<Entity>
  func sumOfRanks(
    _ repository: any Repository<Model, Entity>, _ query: Query<Entity>
  ) throws -> Int
}

extension ConformanceSubject {
  var all: Query<Entity> { Entity.all }

  func entity(_ model: Model, over stored: Sample?) -> Sample {
    entity(model, over: stored, as: .local)
  }
}

/// The conditions of the facts.
enum SampleCondition {
  case group(String)
  case rankBelow(Int)
  case noNote
  case id(String)
  case idAbove(String)
  case idAboveButNotRank(String, Int)
}

/// What the facts sort by.
enum SampleOrder {
  case group, rank, note
}

extension ConformanceSubject where Entity == Sample {
  func matching(_ condition: SampleCondition) -> Query<Sample> {
    switch condition {
    case .group(let group): Sample.where { $0.group == group }
    case .rankBelow(let rank): Sample.where { $0.rank < rank }
    case .noNote: Sample.where { $0.note == nil }
    case .id(let id): Sample.where { $0.id == id }
    case .idAbove(let id): Sample.where { $0.id > id }
    case .idAboveButNotRank(let id, let rank): Sample.where { $0.id > id && !($0.rank == rank) }
    }
  }

  func sorted(
    _ query: Query<Sample>, by order: SampleOrder, _ direction: SortOrder
  ) -> Query<Sample> {
    switch order {
    case .group: query.sorted(by: \.group, direction)
    case .rank: query.sorted(by: \.rank, direction)
    case .note: query.sorted(by: \.note, direction)
    }
  }
}

extension ConformanceSubject where Entity == Sample {
  func sumOfRanks(
    _ repository: any Repository<Model, Sample>, _ query: Query<Sample>
  ) throws -> Int {
    try repository.sum(\.rank, of: query)
  }
}

struct PlainSubject: ConformanceSubject {
  typealias Entity = Sample

  func model(_ sample: Sample) -> Sample { sample }
  func entity(_ model: Sample, over stored: Sample?, as origin: ChangeOrigin) -> Sample { model }
  func convert(_ entity: Sample) -> Sample? { entity }
  func rank(of model: Sample) -> Int { model.rank }

  func changing(_ model: Sample, id: String?, rank: Int) -> Sample {
    var model = model
    model.id = id ?? model.id
    model.rank = rank
    return model
  }
}

struct MappedSubject: ConformanceSubject {
  typealias Entity = Sample

  func model(_ sample: Sample) -> SampleModel {
    SampleModel(
      id: sample.id, group: sample.group, rank: sample.rank, note: sample.note,
      isHidden: sample.isHidden, label: sample.label)
  }

  // Written out, and not the mapper's own functions: they are what is tested.
  func entity(_ model: SampleModel, over stored: Sample?, as origin: ChangeOrigin) -> Sample {
    Sample(
      id: stored?.id ?? model.id, group: model.group, rank: model.rank, note: model.note,
      isHidden: model.isHidden, firstGroup: stored?.firstGroup ?? model.group,
      label: origin == .local ? model.label : stored?.label ?? "")
  }

  func convert(_ entity: Sample) -> SampleModel? {
    if entity.isHidden { return nil }
    var model = model(entity)
    model.firstGroup = entity.firstGroup
    return model
  }

  func rank(of model: SampleModel) -> Int { model.rank }

  func changing(_ model: SampleModel, id: String?, rank: Int) -> SampleModel {
    var model = model
    model.id = id ?? model.id
    model.rank = rank
    return model
  }
}
