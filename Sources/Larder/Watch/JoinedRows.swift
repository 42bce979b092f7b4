/// Two watched results, of which each row of the first is shown with the rows of the second that belong
/// to it: a state machine that is given the changes of both, and says how the joined rows change.
///
/// Rows belong together by a value that both have. A change costs what it is of: rows are found by this
/// value, and rows of the first by their places.
struct JoinedRows<
  Model: Sendable, Other: Sendable, Key: Hashable & Sendable, Related: Sendable
> {
  typealias Joined = Included<Model, Related>
  private typealias OtherRow = PlacedRows<Other>.Row
  private typealias ModelRow = PlacedRows<Model>.Row

  /// How rows belong together.
  struct Link: Sendable {
    /// The values that a model asks for.
    let wanted: @Sendable (Model) -> [Key]
    /// The value that one of the others has, if any.
    let key: @Sendable (Other) -> Key?
    /// What belongs to a model: for each of the values that it asks for, the others that have it, in
    /// their order.
    let related: @Sendable ([[Other]]) -> Related
    /// A value as reports of unreadable documents name it; nil where these are no business of the join.
    var text: (@Sendable (Key) -> String)? = nil
  }

  private let link: Link
  private var models = PlacedRows<Model>()
  private var others = PlacedRows<Other>()
  /// The models that ask for a value, and the others that have it.
  private var asking: [Key: [ObjectIdentifier: ModelRow]] = [:]
  private var having: [Key: [ObjectIdentifier: OtherRow]] = [:]
  /// The last changes of the two that were seen; nil before the first result.
  private var sequences: (models: UInt64?, others: UInt64?) = (nil, nil)
  /// Whether a first result was given.
  private var isShown = false
  /// Models whose others have changed since they were given last.
  private var owed: [ObjectIdentifier: ModelRow] = [:]
  /// Values of documents that cannot be read, and so are none of the others; as texts. Meanwhile some may be
  /// readable, or gone.
  private var unreadable: Set<String> = []
  /// Those that some model has asked for, and that nobody has tried to read since.
  private var doubtful: Set<Key> = []
  /// How many models were joined with others, for tests of the cost.
  private(set) var joinedCount = 0

  init(_ link: Link) { self.link = link }

  private var sequence: UInt64? {
    guard let first = sequences.models, let second = sequences.others else { return nil }
    return max(first, second)
  }
}

// MARK: Changes

extension JoinedRows {
  /// The models have changed.
  ///
  /// - Returns: Nil until both results were read.
  mutating func take(models change: ResultChange<Model>) -> ResultChange<Joined>? {
    sequences.models = change.sequence
    let step = models.apply(change)
    for row in step.removed {
      forget(row, row.model)
      owed[ObjectIdentifier(row)] = nil
    }
    for (row, old) in step.updated {
      forget(row, old)
      note(row)
      owed[ObjectIdentifier(row)] = nil
    }
    for row in step.inserted { note(row) }
    guard let sequence else { return nil }
    guard isShown else { return initial(sequence) }
    switch change {
    case .initial: return initial(sequence)
    case .update(let difference): return .update(joined(difference, sequence))
    case .reset(_, let difference): return .reset(all(), joined(difference, sequence))
    }
  }

  /// The others have changed, which the next step says.
  mutating func note(others change: ResultChange<Other>) {
    sequences.others = change.sequence
    let step = others.apply(change)
    var concerned: Set<Key> = []
    for row in step.removed { forget(row, row.model, &concerned) }
    for (row, old) in step.updated {
      forget(row, old, &concerned)
      note(row, &concerned)
    }
    for row in step.inserted { note(row, &concerned) }
    guard isShown else { return }
    for key in concerned { owed.merge(asking[key] ?? [:]) { first, _ in first } }
  }

  /// What the others have become since the last step.
  ///
  /// - Returns: Nil until both results were read, and where no model asks for what has changed.
  mutating func owedStep() -> ResultChange<Joined>? {
    guard let sequence else { return nil }
    guard isShown else { return initial(sequence) }
    let updates = owedUpdates()
    if updates.isEmpty { return nil }
    return .update(
      ResultDifference(removals: [], insertions: [], updates: updates, sequence: sequence))
  }

  private mutating func owedUpdates() -> [(offset: Int, model: Joined)] {
    let rows = owed.values
    owed = [:]
    return rows.map { (offset: models.offset(of: $0), model: joined($0.model)) }
  }

  private mutating func initial(_ sequence: UInt64) -> ResultChange<Joined> {
    isShown = true
    owed = [:]
    return .initial(all(), sequence: sequence)
  }
}

// MARK: Others that cannot be read

extension JoinedRows {
  /// Documents with these values could not be read. Only where one was readable when this was said last are all
  /// values looked through that models ask for.
  mutating func note(unreadable reported: Set<String>) {
    guard let text = link.text else { return }
    let new = reported.subtracting(unreadable)
    if new.isEmpty { return }
    unreadable.formUnion(new)
    for key in asking.keys where new.contains(text(key)) { doubtful.insert(key) }
  }

  /// Values that models ask for, and under which there may be a document that cannot be read.
  var doubtfulKeys: Set<Key> { doubtful.isEmpty ? [] : doubtful.filter { asking[$0] != nil } }

  /// There is none under these.
  mutating func settle(_ keys: Set<Key>) {
    guard let text = link.text else { return }
    doubtful.subtract(keys)
    for key in keys { unreadable.remove(text(key)) }
  }

  private mutating func doubt(_ key: Key) {
    if !unreadable.isEmpty, let text = link.text, unreadable.contains(text(key)) {
      doubtful.insert(key)
    }
  }
}

// MARK: What belongs together

extension JoinedRows {
  private mutating func note(_ row: ModelRow) {
    for key in link.wanted(row.model) {
      asking[key, default: [:]][ObjectIdentifier(row)] = row
      doubt(key)
    }
  }

  private mutating func forget(_ row: ModelRow, _ model: Model) {
    for key in link.wanted(model) {
      asking[key]?[ObjectIdentifier(row)] = nil
      if asking[key]?.isEmpty == true { asking[key] = nil }
    }
  }

  private mutating func note(_ row: OtherRow, _ concerned: inout Set<Key>) {
    guard let key = link.key(row.model) else { return }
    having[key, default: [:]][ObjectIdentifier(row)] = row
    concerned.insert(key)
  }

  private mutating func forget(_ row: OtherRow, _ other: Other, _ concerned: inout Set<Key>) {
    guard let key = link.key(other) else { return }
    having[key]?[ObjectIdentifier(row)] = nil
    if having[key]?.isEmpty == true { having[key] = nil }
    concerned.insert(key)
  }

  private mutating func joined(_ model: Model) -> Joined {
    joinedCount += 1
    let related = link.wanted(model).map { key -> [Other] in
      guard let rows = having[key]?.values else { return [] }
      if rows.count == 1 { return rows.map(\.model) }
      return rows.map { (order: others.order(of: $0), row: $0) }
        .sorted { $0.order < $1.order }.map(\.row.model)
    }
    return Included(model: model, related: link.related(related))
  }

  private mutating func all() -> Rows<Joined> {
    var builder = RowsBuilder<Joined>()
    for row in models.all { builder.append(joined(row.model)) }
    return builder.rows()
  }

  private mutating func joined(
    _ difference: ResultDifference<Model>, _ sequence: UInt64
  ) -> ResultDifference<Joined> {
    ResultDifference(
      removals: difference.removals.map { ($0.offset, $0.destination) },
      insertions: difference.insertions.map { ($0.offset, joined($0.model), $0.origin) },
      updates: difference.updates.map { ($0.offset, joined($0.model)) } + owedUpdates(),
      sequence: sequence)
  }
}
