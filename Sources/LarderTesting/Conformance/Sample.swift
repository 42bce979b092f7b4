public import Larder

/// The documents that ``RepositoryConformance`` puts into a repository.
public struct Sample: Document, Identifiable, Equatable {
  public var id: String
  public var group: String
  public var rank: Int
  public var note: String?
  /// Has no model where a mapper is used.
  public var isHidden: Bool
  /// Known to the device only: the group that it was first saved with.
  public var firstGroup: String

  public init(
    id: String, group: String = "", rank: Int = 0, note: String? = nil, isHidden: Bool = false,
    firstGroup: String = ""
  ) {
    self.id = id
    self.group = group
    self.rank = rank
    self.note = note
    self.isHidden = isHidden
    self.firstGroup = firstGroup
  }

  public static let schema = Schema<Sample>(
    "Sample", key: \.id,
    fields: [
      Field("id", \.id), Field("group", \.group), Field("rank", \.rank), Field("note", \.note),
      Field("hidden", \.isHidden, default: false),
      Field("firstGroup", \.firstGroup, default: ""),
    ])

  public func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(group, at: 1)
    record.put(rank, at: 2)
    record.put(note, at: 3)
    record.put(isHidden, at: 4)
    record.put(firstGroup, at: 5)
  }

  public init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    group = try record.get(1)
    rank = try record.get(2)
    note = try record.get(3)
    isHidden = try record.get(4)
    firstGroup = try record.get(5)
  }
}

/// A domain model of ``Sample`` that knows nothing of storage.
public struct SampleModel: Sendable, Equatable {
  public var id: String
  public var group: String
  public var rank: Int
  public var note: String?
  public var isHidden: Bool
  /// What the device noted; no save changes it.
  public var firstGroup: String

  public init(
    id: String, group: String = "", rank: Int = 0, note: String? = nil, isHidden: Bool = false,
    firstGroup: String = ""
  ) {
    self.id = id
    self.group = group
    self.rank = rank
    self.note = note
    self.isHidden = isHidden
    self.firstGroup = firstGroup
  }
}

/// Keeps a field that only the device knows, and has no model for entities that are hidden.
public struct SampleMapper: EntityMapper {
  public init() {}

  public func convert(_ entity: Sample) -> SampleModel? {
    guard !entity.isHidden else { return nil }
    return SampleModel(
      id: entity.id, group: entity.group, rank: entity.rank, note: entity.note,
      firstGroup: entity.firstGroup)
  }

  public func newEntity(for model: SampleModel) -> Sample {
    Sample(id: model.id, firstGroup: model.group)
  }

  public func update(_ entity: inout Sample, by model: SampleModel) {
    entity.group = model.group
    entity.rank = model.rank
    entity.note = model.note
    entity.isHidden = model.isHidden
  }

  public func entityAccessorKey(_ model: SampleModel) -> String { model.id }
}
