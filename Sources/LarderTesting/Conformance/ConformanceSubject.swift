internal import Larder

/// The models that a repository under test holds, and how each is stored.
protocol ConformanceSubject: Sendable {
  associatedtype Model: Sendable & Equatable

  /// The model that says what `sample` says, but for what only the device knows.
  func model(_ sample: Sample) -> Model
  /// What is stored for `model` where `stored` was before.
  func entity(_ model: Model, over stored: Sample?) -> Sample
  /// What is read of an entity.
  func convert(_ entity: Sample) -> Model?
  /// The model with another rank.
  func changing(_ model: Model, id: String?, rank: Int) -> Model
  func rank(of model: Model) -> Int
}

struct PlainSubject: ConformanceSubject {
  func model(_ sample: Sample) -> Sample { sample }
  func entity(_ model: Sample, over stored: Sample?) -> Sample { model }
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
  func model(_ sample: Sample) -> SampleModel {
    SampleModel(
      id: sample.id, group: sample.group, rank: sample.rank, note: sample.note,
      isHidden: sample.isHidden)
  }

  // Written out, and not the mapper's own functions: they are what is tested.
  func entity(_ model: SampleModel, over stored: Sample?) -> Sample {
    Sample(
      id: stored?.id ?? model.id, group: model.group, rank: model.rank, note: model.note,
      isHidden: model.isHidden, firstGroup: stored?.firstGroup ?? model.group)
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
