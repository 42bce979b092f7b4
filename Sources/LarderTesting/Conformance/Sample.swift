public import Larder

extension RepositoryConformance {
  /// The documents that ``RepositoryConformance`` puts into a repository.
  public struct Sample: Document, Identifiable, Equatable {
    public var id: String
    /// What most operations select by.
    public var group: String
    /// What most operations sort by.
    public var rank: Int
    /// A field that may be nil.
    public var note: String?
    /// Has no model where a mapper is used.
    public var isHidden: Bool
    /// Known to the device only: the group that it was first saved with.
    public var firstGroup: String
    /// Put in by the user: where a mapper is used, only changes of the app's own write it.
    public var label: String

    /// A document with all its fields.
    public init(
      id: String, group: String = "", rank: Int = 0, note: String? = nil, isHidden: Bool = false,
      firstGroup: String = "", label: String = ""
    ) {
      self.id = id
      self.group = group
      self.rank = rank
      self.note = note
      self.isHidden = isHidden
      self.firstGroup = firstGroup
      self.label = label
    }

    public static let schema = Schema<Sample>(
      "Sample", key: \.id,
      fields: [
        Field("id", \.id), Field("group", \.group), Field("rank", \.rank), Field("note", \.note),
        Field("hidden", \.isHidden, default: false),
        Field("firstGroup", \.firstGroup, default: ""), Field("label", \.label, default: ""),
      ])

    public func encode(into record: inout RecordWriter) {
      record.put(id, at: 0)
      record.put(group, at: 1)
      record.put(rank, at: 2)
      record.put(note, at: 3)
      record.put(isHidden, at: 4)
      record.put(firstGroup, at: 5)
      record.put(label, at: 6)
    }

    public init(from record: borrowing RecordReader) throws(RecordError) {
      id = try record.get(0)
      group = try record.get(1)
      rank = try record.get(2)
      note = try record.get(3)
      isHidden = try record.get(4)
      firstGroup = try record.get(5)
      label = try record.get(6)
    }
  }

  /// A domain model of ``Sample`` that knows nothing of storage.
  public struct SampleModel: Sendable, Equatable {
    /// The entity-accessor key.
    public var id: String
    /// What most operations select by.
    public var group: String
    /// What most operations sort by.
    public var rank: Int
    /// A field that may be nil.
    public var note: String?
    /// Whether the mapper makes no model of the entity.
    public var isHidden: Bool
    /// What the device noted; no save changes it.
    public var firstGroup: String
    /// What the user put in.
    public var label: String

    /// A model with all its fields.
    public init(
      id: String, group: String = "", rank: Int = 0, note: String? = nil, isHidden: Bool = false,
      firstGroup: String = "", label: String = ""
    ) {
      self.id = id
      self.group = group
      self.rank = rank
      self.note = note
      self.isHidden = isHidden
      self.firstGroup = firstGroup
      self.label = label
    }
  }

  /// Keeps a field that only the device knows, lets only the app's own changes write the one that the user
  /// puts in, and has no model for entities that are hidden.
  public struct SampleMapper: EntityMapper {
    /// The mapper has no state.
    public init() {}

    public func convert(_ entity: Sample) -> SampleModel? {
      guard !entity.isHidden else { return nil }
      return SampleModel(
        id: entity.id, group: entity.group, rank: entity.rank, note: entity.note,
        firstGroup: entity.firstGroup, label: entity.label)
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

    public func update(_ entity: inout Sample, by model: SampleModel, as origin: ChangeOrigin) {
      update(&entity, by: model)
      if origin == .local { entity.label = model.label }
    }

    public func entityAccessorKey(_ model: SampleModel) -> String { model.id }
  }
}

// Short names inside this module.
typealias Sample = RepositoryConformance.Sample
typealias SampleModel = RepositoryConformance.SampleModel
typealias SampleMapper = RepositoryConformance.SampleMapper
typealias CodableSample = RepositoryConformance.CodableSample
