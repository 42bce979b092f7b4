/// The part of a ``SaveRehearsal`` that costs next to nothing: documents on a tape that show nothing new.
///
/// They are written as records, which are kept as long as they are few (``KeptRecords``), and are
/// forgotten otherwise. Every other document goes by way of ``SaveRehearsal``, which has all the rules,
/// and may change what is known of the fields; a new plan is then made of that, and what was kept is
/// let go of.
package struct TapeRehearsal: ~Copyable {
  private var work: TapeTrial.Work?
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
  /// How many times the plan was made anew.
  private var generation = 0

  /// A file that shows something new more often than this is read twice, with nothing kept.
  private static let mostLosses = 100

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
    generation += 1
    if kept.take() != nil { lossCount += 1 }
    if lossCount > Self.mostLosses { limits = nil }
    guard let terms = try terms(of: rehearsal) else { return }
    work = TapeTrial.Work(terms)
    if let limits {
      kept = KeptRecords(rehearsal.collection, terms.binding, limits, start: count)
    }
  }

  /// The terms on which other threads can try documents, as this rehearsal does, until a document shows something
  /// new. Nil if they cannot.
  ///
  /// - Parameter earlier: The terms that they have; returned if they still hold.
  package func terms(
    of rehearsal: SaveRehearsal, replacing earlier: TapeTrial.Terms? = nil
  ) throws -> TapeTrial.Terms? {
    guard !isOff, let keyKind = rehearsal.keyKind else { return nil }
    if let earlier, earlier.generation == generation, earlier.keepsRecords == (kept != nil) {
      return earlier
    }
    return TapeTrial.Terms(
      generation: generation, keepsRecords: kept != nil, try rehearsal.described(keyKind),
      rehearsal, rules, conversion)
  }

  /// Takes over what another thread has tried; false, and nothing is taken, where a document has shown something
  /// new since its terms were made. Documents that were not accepted must have been given to ``add(_:to:)``.
  package mutating func take(_ trial: TapeTrial, _ rehearsal: inout SaveRehearsal) -> Bool {
    guard trial.terms.generation == generation, counts.isEmpty,
      kept == nil || trial.terms.keepsRecords
    else { return false }
    keep()
    count += trial.count
    rehearsal.keyHashes.append(trial.keyHashes)
    rehearsal.addCounts(trial.work.plan.counts, of: trial.work.plan)
    keep(&trial.work.builder)
    return true
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
    keep(&work.builder)
    work.renewBuilder()
    self.work = consume work
  }

  private mutating func keep(_ records: inout BatchBuilder) {
    // An error is not told here: whoever saves the documents meets it again.
    if (try? kept?.add(&records)) != true {
      kept = nil
      limits = nil
    }
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
