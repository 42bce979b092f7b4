internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Operations that follow from a seed, done to a repository and to a dictionary.
struct RandomOperations<Subject: ConformanceSubject> {
  private let subject: Subject
  private let repository: any Repository<Subject.Model, Subject.Entity>
  private var random: SeededNumbers
  /// What should be stored. Swift's own comparison of strings decides what one key is.
  private var entities: [String: Sample] = [:]
  /// What was done.
  private(set) var log: [String] = []

  init(
    _ subject: Subject, _ repository: any Repository<Subject.Model, Subject.Entity>, seed: UInt64
  ) {
    self.subject = subject
    self.repository = repository
    random = SeededNumbers(state: seed)
  }

  /// Does one operation and compares its result, and what is stored after it.
  mutating func next() throws {
    switch Int.random(in: 0..<15, using: &random) {
    case 0...5: try save()
    case 6: try deleteMatches()
    case 7: try deleteKeys()
    case 8, 9: try update()
    case 10 where Int.random(in: 0..<4, using: &random) == 0:
      log.append("eraseAllData")
      try expect(try repository.eraseAllData(), entities.count, "erased")
      entities = [:]
    case 11: try updateMatches()
    default: try read()
    }
    let stored = ordered(entities.values).compactMap(subject.convert)
    try expect(try repository.fetch(subject.all), stored, "stored")
  }

  // MARK: Operations

  private mutating func save() throws {
    let models = (0..<Int.random(in: 0..<6, using: &random)).map { _ in randomModel() }
    let condition = Bool.random(using: &random) ? randomCondition() : nil
    let policy = Policy.allCases.randomElement(using: &random) ?? .replace
    let origin = randomOrigin()
    log.append(
      "save \(models) clearing \(condition?.name ?? "nothing") on conflict \(policy) as \(origin)")
    let expected = expectedReport(models, condition, policy, origin)
    let found = try repository.save(
      models, clearBeforeSaving: condition?.query, onConflict: policy.policy(subject), as: origin)
    try expect(found, expected, "report")
  }

  private mutating func update() throws {
    let id = randomID()
    let changed = randomModel()
    let origin = randomOrigin()
    log.append("update \(id) to \(changed) with its own id as \(origin)")
    var expected: Subject.Model?
    if let stored = entities[id], let model = subject.convert(stored) {
      let new = subject.entity(renamed(changed, as: model), over: stored, as: origin)
      entities[id] = nil
      entities[new.id] = new
      expected = subject.convert(new)
    }
    let found = try repository.update(id, as: origin) { $0 = renamed(changed, as: $0) }
    try expect(found, expected, "updated")
  }

  private mutating func updateMatches() throws {
    let (query, selected) = randomSelection()
    let origin = randomOrigin()
    let rank = Int.random(in: 0..<4, using: &random)
    log.append("update \(query) to rank \(rank) as \(origin)")
    var expected = SaveReport()
    for (stored, model) in selected {
      let new = subject.entity(
        subject.changing(model, id: nil, rank: rank), over: stored, as: origin)
      if stored.hasSameBytes(as: new) { expected.unchanged += 1 } else { expected.updated += 1 }
      entities[stored.id] = nil
      entities[new.id] = new
    }
    let found = try repository.update(query, as: origin) {
      $0 = subject.changing($0, id: nil, rank: rank)
    }
    try expect(found, expected, "updated")
  }

  /// A model that says what `model` says, of what `other` is about.
  private func renamed(_ model: Subject.Model, as other: Subject.Model) -> Subject.Model {
    let id = subject.entity(other, over: nil).id
    return subject.changing(model, id: id, rank: subject.rank(of: model))
  }

  private mutating func expectedReport(
    _ models: [Subject.Model], _ condition: Condition?, _ policy: Policy, _ origin: ChangeOrigin
  ) -> SaveReport {
    var report = SaveReport()
    var batch: [String: Sample] = [:]
    for model in models {
      let id = subject.entity(model, over: nil).id
      var entity = subject.entity(model, over: entities[id], as: origin)
      if let stored = entities[id] {
        switch policy {
        case .replace: break
        case .keepExisting: entity = stored
        case .sum:
          if let old = subject.convert(stored) {
            let sum = subject.rank(of: old) + subject.rank(of: model)
            entity = subject.entity(
              subject.changing(model, id: nil, rank: sum), over: stored, as: origin)
          }
        }
      }
      if batch.updateValue(entity, forKey: id) != nil { report.duplicates += 1 }
    }
    for (id, entity) in entities where batch[id] == nil && condition?.holds(entity) == true {
      entities[id] = nil
      report.deleted += 1
    }
    for (id, entity) in batch {
      switch entities[id] {
      case nil: report.inserted += 1
      case let stored? where stored.hasSameBytes(as: entity): report.unchanged += 1
      default: report.updated += 1
      }
      // The dictionary would keep the key that it was first given.
      entities[id] = nil
      entities[id] = entity
    }
    return report
  }

  private mutating func deleteMatches() throws {
    let condition = randomCondition()
    log.append("delete where \(condition.name)")
    let deleted = entities.values.filter(condition.holds)
    for entity in deleted { entities[entity.id] = nil }
    try expect(try repository.delete(condition.query), deleted.count, "deleted")
  }

  private mutating func deleteKeys() throws {
    let keys = (0..<3).map { _ in randomID() }
    log.append("delete keys \(keys)")
    var expected = 0
    for key in keys where entities.removeValue(forKey: key) != nil { expected += 1 }
    try expect(try repository.delete(keys: keys), expected, "deleted")
  }

  /// A query, and what it selects: the entities that have a model.
  private mutating func randomSelection() -> (
    query: Query<Subject.Entity>, selected: ArraySlice<(entity: Sample, model: Subject.Model)>
  ) {
    let condition = randomCondition()
    let offset = Int.random(in: 0..<4, using: &random)
    let limit = Int.random(in: 0..<6, using: &random)
    let isSorted = Bool.random(using: &random)
    var query = condition.query.offset(offset).limit(limit)
    var matches = ordered(entities.values).filter(condition.holds)
    if isSorted {
      query = subject.sorted(
        subject.sorted(query, by: .group, .forward), by: .rank, .reverse)
      matches = matches.enumerated().sorted {
        ($0.element.group, -$0.element.rank, $0.offset)
          < ($1.element.group, -$1.element.rank, $1.offset)
      }.map(\.element)
    }
    var selected: [(entity: Sample, model: Subject.Model)] = []
    for entity in matches {
      if let model = subject.convert(entity) { selected.append((entity, model)) }
    }
    return (query, selected.dropFirst(offset).prefix(limit))
  }

  private mutating func read() throws {
    let (query, selected) = randomSelection()
    log.append("fetch \(query)")
    let expected = selected.map(\.model)
    try expect(try repository.fetch(query), expected, "fetched")
    try expect(try repository.count(query), expected.count, "counted")
    let keys = (0..<3).map { _ in randomID() }
    log.append("get \(keys)")
    let models = keys.compactMap { entities[$0].flatMap(subject.convert) }
    try expect(try repository.get(keys: keys), models, "got")
    try expect(try repository.get(keys[0]), entities[keys[0]].flatMap(subject.convert), "got")
  }

  private func ordered(_ entities: some Sequence<Sample>) -> [Sample] {
    entities.sorted { $0.id < $1.id }
  }

  // MARK: Random things

  private mutating func randomID() -> String {
    // Two of them are one key.
    ["a", "b", "c", "d", "e", "\u{E9}", "e\u{301}", "zz"].randomElement(using: &random) ?? "a"
  }

  private mutating func randomModel() -> Subject.Model {
    subject.model(
      Sample(
        id: randomID(), group: ["red", "blue", ""].randomElement(using: &random) ?? "",
        rank: .random(in: 0..<4, using: &random),
        note: Bool.random(using: &random) ? nil : "note",
        isHidden: Int.random(in: 0..<4, using: &random) == 0,
        label: Bool.random(using: &random) ? "" : "label"))
  }

  private mutating func randomOrigin() -> ChangeOrigin {
    Bool.random(using: &random) ? .local : .sync
  }

  /// A condition twice: as a query, and as what Swift says.
  private struct Condition {
    let name: String
    let query: Query<Subject.Entity>
    let holds: (Sample) -> Bool
  }

  private mutating func randomCondition() -> Condition {
    let rank = Int.random(in: 0..<5, using: &random)
    return switch Int.random(in: 0..<5, using: &random) {
    case 0: Condition(name: "all", query: subject.all) { _ in true }
    case 1: Condition(name: "red", query: subject.matching(.group("red"))) { $0.group == "red" }
    case 2:
      Condition(name: "rank < \(rank)", query: subject.matching(.rankBelow(rank))) {
        $0.rank < rank
      }
    case 3: Condition(name: "no note", query: subject.matching(.noNote)) { $0.note == nil }
    default:
      Condition(
        name: "id > c and not rank \(rank)",
        query: subject.matching(.idAboveButNotRank("c", rank))
      ) { $0.id > "c" && $0.rank != rank }
    }
  }

  private enum Policy: CaseIterable {
    case replace, keepExisting, sum

    func policy(_ subject: Subject) -> ConflictPolicy<Subject.Model> {
      switch self {
      case .replace: .replace
      case .keepExisting: .keepExisting
      case .sum:
        .merge { stored, new in
          subject.changing(new, id: nil, rank: subject.rank(of: stored) + subject.rank(of: new))
        }
      }
    }
  }
}

extension Sample {
  /// Whether both make the same record: strings that Swift holds equal may differ in bytes.
  fileprivate func hasSameBytes(as other: Sample) -> Bool {
    self == other && id.utf8.elementsEqual(other.id.utf8)
  }
}

/// Numbers that come again with the same seed: SplitMix64.
private struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
