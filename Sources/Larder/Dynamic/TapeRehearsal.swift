/// The part of a ``SaveRehearsal`` that costs next to nothing: documents on a tape that show nothing new.
///
/// They are written as records, which are kept as long as they are few (``KeptRecords``), and are
/// forgotten otherwise. Every other document goes by way of ``SaveRehearsal``, which has all the rules,
/// and may change what is known of the fields; a new plan is then made of that, and what was kept is
/// let go of.
package struct TapeRehearsal: ~Copyable {
  private var work: Work?
  private let conversion: TapeConversion
  private let rules: KindRules?
  /// The counts of documents that were accepted before each that was not.
  private var counts: [[RecordPlan.Count]] = []
  /// Whether nothing can be accepted: what a type reads out of any kind, only the type can say.
  private let isOff: Bool
  /// Nil if nothing is kept, or nothing any more.
  private var limits: KeptBatches.Limits?
  private var kept: KeptRecords?
  /// How many documents there were so far.
  private var count = 0
  /// How many times the kept records were thrown away.
  private var lossCount = 0

  /// Records are compared with the store, and kept, so many at a time.
  fileprivate static let stepCount = 1_000
  fileprivate static let stepByteCount = 1 << 20
  /// A file that shows something new more often than this is read twice, with nothing kept.
  private static let mostLosses = 100

  fileprivate struct Work: ~Copyable {
    var plan: RecordPlan
    var builder: BatchBuilder
    /// Whether the type can read a record.
    let canRead: ((UnsafeRawBufferPointer) -> Bool)?
  }

  /// - Parameters:
  ///   - rules: The kinds that the caller gives to fields.
  ///   - limits: How much is kept; nil for nothing.
  /// - Throws: ``StoreError`` for fields that cannot be declared.
  package init(
    _ rehearsal: SaveRehearsal, rules: KindRules?, _ conversion: TapeConversion,
    keeping limits: KeptBatches.Limits?
  ) throws {
    self.conversion = conversion
    self.limits = limits
    self.rules = rules
    isOff = rehearsal.readsText
    try renew(rehearsal)
  }

  private mutating func renew(_ rehearsal: SaveRehearsal) throws {
    counts = []
    if kept.take() != nil { lossCount += 1 }
    if lossCount > Self.mostLosses { limits = nil }
    guard !isOff, let keyKind = rehearsal.keyKind else { return }
    let described = try rehearsal.described(keyKind)
    let binding = CollectionBinding(described)
    work = Work(
      plan: RecordPlan(
        binding, shape: rehearsal.shape, place: rehearsal.shape.place, rules: rules, conversion),
      builder: BatchBuilder(binding, count: Self.stepCount),
      canRead: rehearsal.type.map { Self.canRead($0, described) })
    if let limits {
      kept = KeptRecords(rehearsal.collection, binding, limits, start: count)
    }
  }

  private static func canRead<Entity: Document>(
    _ type: Entity.Type, _ described: Collection
  ) -> (UnsafeRawBufferPointer) -> Bool {
    let reading = TypedReading(type, described)
    return { reading.canRead($0) }
  }

  /// Whether a document could be stored, and shows nothing new. One for which this is false is to be
  /// given to ``add(_:to:)``.
  package mutating func accepts(
    _ tape: DocumentTape, _ key: OutsideKey, _ rehearsal: inout SaveRehearsal
  ) -> Bool {
    let isAccepted = work?.accepts(tape, key, isKept: kept != nil) == true
    guard isAccepted else {
      pass()
      return false
    }
    count += 1
    work?.withKey { rehearsal.keyHashes.append($0) }
    if work?.isFull == true { keep() }
    return true
  }

  /// Sees to the records that were made since the last time.
  private mutating func keep() {
    guard var work = work.take() else { return }
    // An error is not told here: whoever saves the documents meets it again.
    if (try? kept?.add(&work.builder)) != true {
      kept = nil
      limits = nil
    }
    work.builder = BatchBuilder(work.plan.binding, count: Self.stepCount)
    self.work = consume work
  }

  /// What was kept of the documents; nil where all of them have to be read again.
  package mutating func takeKept(_ rehearsal: SaveRehearsal) throws -> KeptBatches? {
    keep()
    guard let kept = kept.take(), let keyKind = rehearsal.keyKind else { return nil }
    return kept.finish(for: try rehearsal.described(keyKind))
  }

  /// Leaves a document that is on no tape to ``add(_:to:)``.
  package mutating func pass() {
    count += 1
    counts.append(work?.plan.counts ?? [])
  }

  /// The last document that was not accepted is none, and is not given to ``add(_:to:)``.
  package mutating func forgetLast() {
    count -= 1
    _ = counts.popLast()
  }

  /// Tries the documents that were not accepted since the last call.
  ///
  /// - Throws: As ``SaveRehearsal/add(_:)``.
  package mutating func add(
    _ documents: [DynamicDocument], to rehearsal: inout SaveRehearsal
  ) throws {
    guard !documents.isEmpty else { return }
    precondition(documents.count == counts.count)
    guard var work = work.take() else {
      try rehearsal.add(documents)
      return try renew(rehearsal)
    }
    // Nothing is copied for it that is about to be changed.
    work.plan.shapes = []
    var counted: [RecordPlan.Count] = []
    func prepare(_ index: Int, _ shape: inout InferredShape) {
      // What was counted is known again where the documents are tried one by one.
      if index == 0 { counted = [] }
      shape.add(RecordPlan.difference(counts[index], counted), of: work.plan)
      counted = counts[index]
    }
    try rehearsal.add(documents, prepare: prepare)
    rehearsal.addCounts(RecordPlan.difference(work.plan.counts, counted), of: work.plan)
    try renew(rehearsal)
  }
}

extension TapeRehearsal.Work {
  fileprivate mutating func accepts(_ tape: DocumentTape, _ key: OutsideKey, isKept: Bool) -> Bool {
    plan.begin(tape)
    guard plan.takeKey(tape, key) else { return false }
    do {
      try builder.begin(plan.key.bytes)
      let start = builder.writer.count
      guard plan.putDocument(tape, &builder.writer), builder.writer.failure == nil,
        // How large a record may be is for those to say who save it.
        builder.writer.count - start < RecordFormat.largeByteCount
      else {
        builder.abandon()
        return false
      }
      if !isKept, canRead == nil {
        builder.abandon()
        plan.countMet()
        return true
      }
      try builder.end(plan.key.bytes)
    } catch {
      builder.abandon()
      return false
    }
    let isRead = canRead.map { builder.withLast($0) } ?? true
    if !isKept || !isRead { builder.removeLast() }
    if isRead { plan.countMet() }
    return isRead
  }

  /// Whether it is time to see to what was made.
  fileprivate var isFull: Bool {
    builder.entries.count >= TapeRehearsal.stepCount
      || builder.byteCount >= TapeRehearsal.stepByteCount
  }

  fileprivate func withKey(_ body: (UnsafeRawBufferPointer) -> Void) { body(plan.key.bytes) }
}

extension RecordPlan {
  /// What was counted since `earlier`.
  static func difference(_ counts: [Count], _ earlier: [Count]) -> [Count] {
    counts.indices.map { index in
      guard index < earlier.count else { return counts[index] }
      return Count(
        objects: counts[index].objects - earlier[index].objects,
        members: counts[index].members - earlier[index].members)
    }
  }
}
