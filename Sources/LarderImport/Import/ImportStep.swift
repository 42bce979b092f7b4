internal import Larder

/// The documents of one step of an import's first pass that show something new, or that only their
/// names tell how to save; all others are done with at once.
struct ImportStep: ~Copyable {
  /// In the order of the file.
  private(set) var items: [ImportItem] = []
  private var tapes: TapeRehearsal
  /// Whether all documents are tried here.
  private var isIndirect = false
  /// How often documents were rehearsed.
  private var count = 0

  /// As often, a document is rehearsed alone, so that those behind it are quick.
  private static let eagerCount = 64

  /// - Parameter limits: How many records are kept; nil for none.
  /// - Throws: `StoreError` for fields that cannot be declared.
  init(_ rehearsal: SaveRehearsal, rules: KindRules?, keeping limits: KeptBatches.Limits?) throws {
    tapes = try TapeRehearsal(rehearsal, rules: rules, .json, keeping: limits)
  }

  /// Whether it is time to rehearse what was not tried. A file whose documents nearly all show
  /// something new is rehearsed many at a time.
  var isDue: Bool { !isIndirect && (count < Self.eagerCount || items.count >= count) }

  /// Tries the latest document; false if that is left to ``rehearse(_:)``.
  ///
  /// - Throws: ``ImportError`` for one that is refused.
  mutating func add(
    _ documents: inout ImportItems, _ rehearsal: inout SaveRehearsal
  ) throws(ImportError) -> Bool {
    guard documents.isDirect else {
      isIndirect = true
      items.append(try documents.item())
      return false
    }
    if let tape = documents.tape {
      if tapes.accepts(tape, documents.outsideKey, &rehearsal) { return true }
    } else {
      tapes.pass()
    }
    do throws(ImportError) {
      items.append(try documents.item())
    } catch {
      tapes.forgetLast()
      throw error
    }
    return false
  }

  /// The terms on which other threads can try documents, as this step does; nil if they cannot.
  ///
  /// - Parameter earlier: The terms that they have.
  func terms(
    of rehearsal: SaveRehearsal, replacing earlier: TapeTrial.Terms? = nil
  ) throws -> TapeTrial.Terms? {
    try isIndirect ? nil : tapes.terms(of: rehearsal, replacing: earlier)
  }

  /// Takes over what another thread has tried, once nothing is left to ``rehearse(_:)``; false where the
  /// documents have to be added one by one.
  mutating func take(_ trial: TapeTrial, _ rehearsal: inout SaveRehearsal) -> Bool {
    tapes.take(trial, &rehearsal)
  }

  /// What was kept of all documents; nil where all have to be read again.
  mutating func takeKept(_ rehearsal: SaveRehearsal) throws -> KeptBatches? {
    try isIndirect ? nil : tapes.takeKept(rehearsal)
  }

  /// Rehearses what was not tried.
  ///
  /// - Throws: `SaveRehearsal.Refusal` for one of ``items``, which then stay; `StoreError`.
  mutating func rehearse(_ rehearsal: inout SaveRehearsal) throws {
    guard !items.isEmpty else { return }
    let documents = items.map(\.document)
    if isIndirect {
      try rehearsal.add(documents)
    } else {
      try tapes.add(documents, to: &rehearsal)
    }
    count += 1
    items.removeAll(keepingCapacity: true)
  }
}
