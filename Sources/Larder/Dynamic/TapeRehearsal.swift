/// The part of a ``SaveRehearsal`` that costs next to nothing: documents on a tape that show nothing new.
///
/// They are written as records and forgotten, in the bytes of the one before. Every other document goes
/// by way of ``SaveRehearsal``, which has all the rules, and may change what is known of the fields; a
/// new plan is then made of that.
package struct TapeRehearsal: ~Copyable {
  private var work: Work?
  private let conversion: TapeConversion
  private let rules: KindRules?
  /// The counts of documents that were accepted before each that was not.
  private var counts: [[RecordPlan.Count]] = []
  /// Whether nothing can be accepted: what a type reads out of any kind, only the type can say.
  private let isOff: Bool

  fileprivate struct Work: ~Copyable {
    var plan: RecordPlan
    var writer: RecordWriter
    /// Whether the type can read a record.
    let canRead: ((UnsafeRawBufferPointer) -> Bool)?
  }

  /// - Parameter rules: The kinds that the caller gives to fields.
  /// - Throws: ``StoreError`` for fields that cannot be declared.
  package init(
    _ rehearsal: SaveRehearsal, rules: KindRules?, _ conversion: TapeConversion
  ) throws {
    self.conversion = conversion
    self.rules = rules
    isOff = rehearsal.readsText
    try renew(rehearsal)
  }

  private mutating func renew(_ rehearsal: SaveRehearsal) throws {
    counts = []
    guard !isOff, let keyKind = rehearsal.keyKind else { return }
    let described = try rehearsal.described(keyKind)
    let binding = CollectionBinding(described)
    work = Work(
      plan: RecordPlan(
        binding, shape: rehearsal.shape, place: rehearsal.shape.place, rules: rules, conversion),
      writer: RecordWriter(binding: binding),
      canRead: rehearsal.type.map { Self.canRead($0, described) })
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
    let isAccepted = work?.accepts(tape, key) == true
    guard isAccepted else {
      pass()
      return false
    }
    work?.withKey { rehearsal.keyHashes.append($0) }
    return true
  }

  /// Leaves a document that is on no tape to ``add(_:to:)``.
  package mutating func pass() { counts.append(work?.plan.counts ?? []) }

  /// The last document that was not accepted is none, and is not given to ``add(_:to:)``.
  package mutating func forgetLast() { _ = counts.popLast() }

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
  fileprivate mutating func accepts(_ tape: DocumentTape, _ key: OutsideKey) -> Bool {
    plan.begin(tape)
    writer.removeAll()
    guard plan.takeKey(tape, key), plan.putDocument(tape, &writer), writer.failure == nil,
      // How large a record may be is for those to say who save it.
      writer.count < RecordFormat.largeByteCount
    else { return false }
    if let canRead {
      let start = writer.narrowHeader()
      let isRead = writer.withBytes {
        canRead(UnsafeRawBufferPointer(rebasing: $0[start...]))
      }
      guard isRead else { return false }
    }
    plan.countMet()
    return true
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
