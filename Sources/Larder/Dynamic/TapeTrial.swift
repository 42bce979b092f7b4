internal import LarderLMDB

/// Documents on a tape that are tried as a ``TapeRehearsal`` tries them, by one of several threads.
///
/// The rehearsal takes over what was found as long as none of them has shown anything new.
package final class TapeTrial: @unchecked Sendable {  // Used by one thread after another.
  let terms: Terms
  var work: Work
  private(set) var keyHashes: [UInt64] = []

  /// The fields and kinds that are known when a trial begins.
  package struct Terms: Sendable {
    /// Which of the rehearsal's plans they are those of.
    let generation: Int
    /// Whether the rehearsal keeps records.
    let keepsRecords: Bool
    let binding: CollectionBinding
    fileprivate let shape: InferredShape
    fileprivate let rules: KindRules?
    fileprivate let conversion: TapeConversion
    fileprivate let type: (any Document.Type)?
    fileprivate let described: Collection

    init(
      generation: Int, keepsRecords: Bool, _ described: Collection, _ rehearsal: SaveRehearsal,
      _ rules: KindRules?, _ conversion: TapeConversion
    ) {
      self.generation = generation
      self.keepsRecords = keepsRecords
      self.described = described
      binding = CollectionBinding(described)
      shape = rehearsal.shape
      type = rehearsal.type
      self.rules = rules
      self.conversion = conversion
    }
  }

  package init(_ terms: Terms) {
    self.terms = terms
    work = Work(terms)
  }

  /// How many documents were accepted.
  package var count: Int { keyHashes.count }

  /// Whether a document could be stored, and shows nothing new.
  package func accepts(_ tape: DocumentTape, _ key: OutsideKey) -> Bool {
    guard work.accepts(tape, key, isKept: terms.keepsRecords) else { return false }
    work.withKey { keyHashes.append(KeyHashes.hash(of: $0)) }
    return true
  }

  /// The terms that hold now, for all threads; nil while there are none.
  package final class CurrentTerms: Sendable {
    private let current: Locked<Terms?>

    package init(_ terms: Terms) { current = Locked(terms) }

    package var value: Terms? {
      get { current.withLock { $0 } }
      set { current.withLock { $0 = newValue } }
    }
  }

  struct Work: ~Copyable {
    var plan: RecordPlan
    var builder: BatchBuilder
    /// Whether the type can read a record.
    private let canRead: ((UnsafeRawBufferPointer) -> Bool)?

    /// Records are compared with the store, and kept, so many at a time.
    private static let stepCount = 1_000
    private static let stepByteCount = 1 << 20
  }
}

extension TapeTrial.Work {
  init(_ terms: TapeTrial.Terms) {
    plan = RecordPlan(
      terms.binding, shape: terms.shape, place: terms.shape.place, rules: terms.rules,
      terms.conversion)
    builder = BatchBuilder(terms.binding, count: Self.stepCount)
    canRead = terms.type.map { Self.canRead($0, terms.described) }
  }

  private static func canRead<Entity: Document>(
    _ type: Entity.Type, _ described: Collection
  ) -> (UnsafeRawBufferPointer) -> Bool {
    let reading = TypedReading(type, described)
    return { reading.canRead($0) }
  }

  mutating func accepts(_ tape: DocumentTape, _ key: OutsideKey, isKept: Bool) -> Bool {
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
  var isFull: Bool {
    builder.entries.count >= Self.stepCount || builder.byteCount >= Self.stepByteCount
  }

  /// Begins anew without records.
  mutating func renewBuilder() { builder = BatchBuilder(plan.binding, count: Self.stepCount) }

  func withKey(_ body: (UnsafeRawBufferPointer) -> Void) { body(plan.key.bytes) }
}
