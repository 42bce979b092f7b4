internal import Larder
internal import LarderImport

#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Edits that go up.

/// A document with an edit that is to be sent.
struct DueEdit: Sendable {
  let name: RemoteKey
  let collection: String
  let key: [UInt8]
  let sequence: UInt64
  /// Whether the remote has failed to answer it although it answered others.
  let isSuspected: Bool
}

/// Edits on their way, by scope.
struct Flight {
  var requests: [PushRequest] = []
  var places: [RemoteKey: (collection: String, key: [UInt8])] = [:]
  /// Edits that were sent before, and may have been taken.
  var repeated: Set<RemoteKey> = []
  /// Edits of scopes that are not followed.
  var waiting: [RemoteKey] = []
  /// Edits of documents that may be in another scope by now.
  var moving: [RemoteKey] = []
  /// How many edits were looked at; the others did not fit.
  var visitedCount = 0
}

extension SyncTables {
  /// Attempts without an answer of its own after which an edit is sent alone, behind all others.
  private static let fewAttempts: UInt32 = 2
  /// Such attempts after which it is set aside.
  private static let mostAttempts: UInt32 = 5

  /// The documents with edits that are to be sent, those that were edited first in front.
  func dueEdits() throws -> [DueEdit] {
    try store.read { snapshot in
      var due: [DueEdit] = []
      for (name, collection) in collections where collection.direction == .both {
        guard let outline = snapshot.outline(of: name) else { continue }
        try snapshot.forEachOutboxEntry(name) { key, entry in
          if entry.hold == nil {
            due.append(
              DueEdit(
                name: RemoteKey(name, outline.text(key)), collection: name, key: key,
                sequence: entry.sequence, isSuspected: entry.attemptCount >= Self.fewAttempts))
          }
          return true
        }
      }
      return due.sorted {
        if $0.isSuspected != $1.isSuspected { return $1.isSuspected }
        return ($0.sequence, $0.name) < ($1.sequence, $1.name)
      }
    }
  }

  /// Whether an edit is to be sent, as far as is seen without its document.
  func hasDueEdits() throws -> Bool {
    try store.read { snapshot in
      var hasOne = false
      for (name, collection) in collections where collection.direction == .both && !hasOne {
        try snapshot.forEachOutboxEntry(name) { _, entry in
          let base = SyncBase(entry.base)
          hasOne = entry.hold == nil && base.map { scope(numbered: $0.scope) != nil } ?? true
          return !hasOne
        }
      }
      return hasOne
    }
  }

  /// Notes that edits are under way, before they are: an edit that was sent and whose answer was lost is
  /// sent again under its name.
  ///
  /// Edits that have come to nothing are taken off. Those beside which another version of the remote waits are settled
  /// with it; what is left of them is due again.
  func begin(_ due: ArraySlice<DueEdit>, mostByteCount: Int) throws -> Flight {
    let (flight, met) = try write { tx in
      var flight = Flight()
      var met: [DueEdit] = []
      var requests: [String: [Mutation]] = [:]
      var loadings: [UInt16: UInt8] = [:]
      var byteCount = 0
      edits: for edit in due {
        guard let outline = tx.outline(of: edit.collection) else {
          flight.visitedCount += 1
          continue
        }
        let room = byteCount > 0 ? mostByteCount - byteCount : .max
        switch try begin(edit, try place(edit.collection, outline), room: room, &loadings, &tx) {
        case .sent(let mutation, let scope, let isRepeated):
          if isRepeated { flight.repeated.insert(mutation.key) }
          byteCount += mutation.document?.json.count ?? 0
          requests[scope, default: []].append(mutation)
          flight.places[mutation.key] = (edit.collection, edit.key)
        case .waits: flight.waiting.append(edit.name)
        case .mayHaveMoved: flight.moving.append(edit.name)
        case .isMet: met.append(edit)
        case .nothing: break
        case .doesNotFit: break edits
        }
        flight.visitedCount += 1
      }
      flight.requests = requests.sorted { $0.key < $1.key }.map {
        PushRequest(scope: $0.key, mutations: $0.value)
      }
      return (flight, met)
    }
    for edit in met { try settleNewer(edit) }
    return flight
  }

  /// Settles an edit with the version that the remote told of while an earlier edit was under way, or told an engine
  /// that sends nothing. One that cannot be saved here keeps nobody from the others.
  private func settleNewer(_ edit: DueEdit) throws {
    func settle(
      _ body: (Place, OutboxEntry, OutboxEntry.Version, inout WriteScope) throws -> Void
    ) throws {
      try write { tx in
        guard let outline = tx.outline(of: edit.collection),
          let entry = try tx.outboxEntry(edit.collection, edit.key), entry.flight == nil,
          entry.hold == nil, let newer = entry.newer
        else { return }
        try body(try place(edit.collection, outline), entry, newer, &tx)
      }
    }
    do {
      try settle { place, entry, newer, tx in
        guard let base = SyncBase(newer.base) else { return }
        let document = try newer.record.flatMap {
          try place.document(kept: $0, edit.key, tx)
        }
        var reconciling = Reconciling(place: place, key: edit.key, entry: entry)
        try reconciling.settle(Incoming(base: base, document: document), &tx)
      }
    } catch let error where Self.isRefusal(error) {
      try settle { place, entry, newer, tx in
        if let base = SyncBase(newer.base) {
          // Noted, so that somebody can have it overwritten, and that it is tried again.
          _ = try noteRefused(newer.record, base, edit.name, edit.key, place, error, &tx)
        }
        var entry = entry
        entry.hold = OutboxEntry.Hold(code: Self.refused, reason: Self.refusal(error))
        try tx.setOutboxEntry(edit.collection, edit.key, to: entry)
      }
    }
  }

  /// What happened to an edit that was due.
  private enum Beginning {
    case sent(Mutation, scope: String, isRepeated: Bool)
    /// Its scope is not followed.
    case waits
    /// Its document has left its scope, and may come with another one, which is read first.
    case mayHaveMoved
    /// The remote has another version, with which it is to be settled first.
    case isMet
    /// There is nothing to send, or nothing that can be.
    case nothing
    /// It has more bytes than there is room for.
    case doesNotFit
  }

  /// - Parameter loadings: What ``loading(of:_:)`` has said of scopes so far.
  private func begin(
    _ edit: DueEdit, _ place: Place, room: Int, _ loadings: inout [UInt16: UInt8],
    _ tx: inout WriteScope
  ) throws -> Beginning {
    let (name, key) = (edit.collection, edit.key)
    guard var entry = try tx.outboxEntry(name, key), entry.hold == nil else { return .nothing }
    let current = try tx.recordBytes(name, key)
    if let flight = entry.flight, flight.sent == nil, current == nil, !entry.isDeleted {
      // It was taken away by something that is no edit. Sent now, it would be deleted there.
      try tx.setOutboxEntry(name, key, to: nil)
      return .nothing
    }
    #if LARDER_MUTANTS
      if Mutant.renamedEdits.isOn { entry.flight?.mutation = UUID.random() }
      defer {
        if Mutant.renamedEdits.isOn, entry.flight != nil {
          try? tx.setOutboxEntry(name, key, to: entry)
        }
      }
    #endif
    if entry.flight == nil {
      // The cursor is behind it, so that it does not come again.
      if SyncBase(entry.newer?.base) != nil { return .isMet }
      if try isMoving(name, key, tx) { return .mayHaveMoved }
      let isNothing =
        current == nil ? !entry.isDeleted || !entry.hasBase : current == entry.shadow
      if isNothing {
        try tx.setOutboxEntry(name, key, to: nil)
        let base = SyncBase(try tx.base(name, key))
        if current != nil, entry.base != nil, base?.hasLeft ?? true,
          let value = place.outline.value(key)
        {
          // It is gone there, and stood here for its edit alone.
          try tx.setSyncBase(name, key, to: nil)
          try tx.delete(key: value, in: place.collection)
        }
        return .nothing
      }
    }
    let record: [UInt8]? = if let sent = entry.flight?.sent { sent } else { current }
    let document: DynamicDocument?
    do {
      document = try record.flatMap { try tx.document(name, key, record: $0) }
    } catch {
      // What cannot be read cannot be sent. It is put right by saving the document again.
      entry.flight = nil
      entry.hold = OutboxEntry.Hold(code: "damaged", reason: "\(error)")
      try tx.setOutboxEntry(name, key, to: entry)
      return .nothing
    }
    let base = SyncBase(entry.base)
    // What was sent goes where it went before, and nowhere else: it has the same name.
    let known =
      if let sent = entry.flight?.destination {
        SyncBase.scope(in: sent).flatMap { scope(numbered: $0) }
      } else {
        scope(of: document, base, place)
      }
    guard let scope = known else { return .waits }
    let isRepeated = entry.flight != nil
    let json = document.map { RemoteDocument(json: place.exchange.json($0)) }
    if let json, json.json.count > room { return .doesNotFit }
    let flight: OutboxEntry.Flight
    if let begun = entry.flight {
      flight = begun
    } else {
      let number = number(of: scope)
      let loading = try loadings[number] ?? self.loading(of: number, tx)
      loadings[number] = loading
      flight = OutboxEntry.Flight(
        mutation: UUID.random(), destination: SyncBase.bytes(ofScope: number) + [loading])
      entry.flight = flight
      try tx.setOutboxEntry(name, key, to: entry)
    }
    var mutation = Mutation(
      id: flight.mutation.uuidString.lowercased(),
      key: RemoteKey(name, place.outline.text(key)), base: entry.hasBase ? base?.revision : nil,
      document: json)
    #if LARDER_MUTANTS
      if Mutant.outboxEarly.isOn { try tx.setOutboxEntry(name, key, to: nil) }
      if Mutant.basesUnsent.isOn { mutation.base = nil }
    #endif
    return .sent(mutation, scope: scope, isRepeated: isRepeated)
  }

  /// The number of the loading that a scope's cursor belongs to; 0 where no page of the next loading is saved yet.
  private func loading(of scope: UInt16, _ tx: borrowing WriteScope) throws -> UInt8 {
    let note = ScopeNote(noted: try tx.syncNote(ScopeNote.name(scope)))
    return note?.cursor == nil ? 0 : note?.loading ?? 0
  }

  /// Which loading of a scope has given everything that there was; nil while one is under way.
  private func wholeLoading(of scope: UInt16, _ tx: borrowing WriteScope) throws -> UInt8? {
    guard let note = ScopeNote(noted: try tx.syncNote(ScopeNote.name(scope))), !note.isLoading
    else { return nil }
    return note.loading
  }

  /// Has the next pull of a scope decide about what did not come with its last loading.
  fileprivate func noteMissed(_ scope: UInt16, _ tx: inout WriteScope) throws {
    let name = ScopeNote.name(scope)
    guard var note = ScopeNote(noted: try tx.syncNote(name)), note.hasMissed != true else { return }
    note.hasMissed = true
    try tx.setSyncNote(name, to: try note.noted())
  }

  /// Where an edit goes; nil for a scope that is not followed. It is never sent to another one instead, where
  /// others might read it.
  private func scope(of document: DynamicDocument?, _ base: SyncBase?, _ place: Place) -> String? {
    if let document, let scope = place.synced.scope?(document) {
      return scopes.contains(scope) ? scope : nil
    }
    return if let base { scope(numbered: base.scope) } else { scopes.first }
  }

  /// Saves what became of edits.
  ///
  /// - Parameter mend: Asked what a rejected document should be instead; nil sets it aside.
  /// - Throws: `RemoteError.malformed(_:)` for an answer that answers something else; `StoreError`.
  func finish(
    _ request: PushRequest, _ results: [PushResult], of flight: Flight,
    mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?
  ) throws {
    guard results.count == request.mutations.count else {
      throw RemoteError.malformed(
        "\(request.mutations.count) mutations were sent, and \(results.count) results came")
    }
    try finish(Array(zip(request.mutations, results))[...], request, of: flight, mend: mend)
  }

  /// One answer that cannot be saved here keeps nobody from the others.
  private func finish(
    _ answers: ArraySlice<(Mutation, PushResult)>, _ request: PushRequest, of flight: Flight,
    mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?
  ) throws {
    do {
      try save(answers, request, of: flight, mend: mend)
    } catch let error where Self.isRefusal(error) {
      guard answers.count > 1 else {
        if case .accepted? = answers.first?.1 {
          // It was taken. What came after it cannot be merged here: somebody is to look at it.
          do {
            return try save(answers, request, of: flight, mend: mend, isAsking: true)
          } catch let error where Self.isRefusal(error) {
            // Nor can anybody: it comes again, and is then one of those that are refused.
            return try save(answers, request, of: flight, mend: mend, forgetsNewer: true)
          }
        }
        if case .rejected? = answers.first?.1, mend != nil {
          // The app's replacement cannot be saved: the edit is set aside as it is, with the remote's reason.
          return try save(answers, request, of: flight, mend: nil)
        }
        if case (let mutation, .conflict(let version?))? = answers.first,
          let there = version.document
        {
          // Noted, so that somebody can have it overwritten.
          let change = RemoteChange(mutation.key, revision: version.revision, .document(there))
          let scope = number(of: request.scope)
          try write { try noteRefused(change, scope, error, &$0) }
        }
        let mutations = answers.map { $0.0 }
        return try hold(
          PushRequest(scope: request.scope, mutations: mutations), in: flight, code: Self.refused,
          Self.refusal(error))
      }
      let middle = answers.startIndex + answers.count / 2
      try finish(answers[..<middle], request, of: flight, mend: mend)
      try finish(answers[middle...], request, of: flight, mend: mend)
    }
  }

  /// Why an edit was set aside that meets what cannot be saved here.
  static let refused = "refused"

  private static func refusal(_ error: any Error) -> String {
    "what the server has cannot be saved here: \(error)"
  }

  private func save(
    _ answers: ArraySlice<(Mutation, PushResult)>, _ request: PushRequest, of flight: Flight,
    mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?, isAsking: Bool = false,
    forgetsNewer: Bool = false
  ) throws {
    let scope = number(of: request.scope)
    try write { tx in
      let loading = try wholeLoading(of: scope, tx)
      for (mutation, result) in answers {
        guard let (name, key) = flight.places[mutation.key],
          let outline = tx.outline(of: name),
          let entry = try tx.outboxEntry(name, key),
          // Somebody else has had the answer: another process with the same store.
          entry.flight?.mutation.uuidString.lowercased() == mutation.id
        else { continue }
        var answered = Answered(
          tables: self, place: try place(name, outline), key: key, entry: entry, scope: scope,
          wholeLoading: loading, mutation: mutation, isAsking: isAsking)
        if forgetsNewer {
          answered.entry.newer = nil
          try restart(scope, &tx)
        }
        try answered.take(result, mend, &tx)
      }
    }
  }

  /// Notes that edits were sent and not answered although others were. After a few times it sets them aside, under
  /// the names that they have: the remote may have taken them.
  func noteFailure(of edits: [Unanswered]) throws {
    if edits.isEmpty { return }
    try write { tx in
      for edit in edits {
        guard var entry = try tx.outboxEntry(edit.collection, edit.key),
          entry.flight?.mutation.uuidString.lowercased() == edit.mutation
        else { continue }
        entry.attemptCount += 1
        if entry.attemptCount >= Self.mostAttempts {
          entry.hold = OutboxEntry.Hold(code: Self.unanswered, reason: edit.reason)
          entry.attemptCount = 0
        }
        try tx.setOutboxEntry(edit.collection, edit.key, to: entry)
      }
    }
  }

  /// Why it was set aside.
  private static let unanswered = "unanswered"
  /// The same.
  static let left = "left"

  /// Has edits sent again that were set aside without an answer: another day the remote may have one.
  func retryUnanswered() throws {
    let found = try edits { $0.hold?.code == Self.unanswered }
    if found.isEmpty { return }
    try write { tx in
      for (name, key) in found {
        guard var entry = try tx.outboxEntry(name, key), entry.hold?.code == Self.unanswered else {
          continue
        }
        entry.hold = nil
        try tx.setOutboxEntry(name, key, to: entry)
      }
    }
  }

  /// An edit that was sent alone and not answered.
  struct Unanswered {
    let collection: String
    let key: [UInt8]
    /// The name of the edit.
    let mutation: String
    let reason: String
  }

  /// Sets an edit aside that the remote will never take as it is, also where the app's replacement cannot be saved.
  ///
  /// - Parameter isUnknown: Whether the remote has not said so of the edit, but of the request: one that was sent
  ///   before may have been taken then.
  func hold(
    _ request: PushRequest, in flight: Flight, code: String, _ reason: String,
    isUnknown: Bool = false, mend: (@Sendable (RejectedEdit) -> DynamicDocument?)? = nil
  ) throws {
    do {
      try setAside(request, in: flight, code: code, reason, isUnknown: isUnknown, mend: mend)
    } catch let error where mend != nil && Self.isRefusal(error) {
      try setAside(request, in: flight, code: code, reason, isUnknown: isUnknown, mend: nil)
    }
  }

  private func setAside(
    _ request: PushRequest, in flight: Flight, code: String, _ reason: String, isUnknown: Bool,
    mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?
  ) throws {
    try write { tx in
      for mutation in request.mutations {
        guard let (name, key) = flight.places[mutation.key],
          let outline = tx.outline(of: name), var entry = try tx.outboxEntry(name, key),
          entry.flight?.mutation.uuidString.lowercased() == mutation.id
        else { continue }
        if isUnknown, flight.repeated.contains(mutation.key) {
          // It keeps its name until somebody tries it again, and what it is mended to is sent behind it.
          let place = try place(name, outline)
          let current = try tx.recordBytes(name, key)
          // What cannot be read cannot be mended.
          let document = current.flatMap { try? tx.document(name, key, record: $0) }
          let rejected = RejectedEdit(
            key: mutation.key, document: document, code: code, reason: reason)
          if !entry.isEditedInFlight, let mended = place.mended(rejected, key, by: mend) {
            entry.edit(old: current)
            try tx.save([mended], in: place.collection, keyField: place.keyField)
          }
          entry.hold = OutboxEntry.Hold(code: code, reason: reason)
          try tx.setOutboxEntry(name, key, to: entry)
        } else {
          entry.hold = nil
          var answered = Answered(
            tables: self, place: try place(name, outline), key: key, entry: entry,
            scope: number(of: request.scope), mutation: mutation, isAsking: false)
          try answered.reject(code, reason, mend, &tx)
        }
      }
    }
  }

  static let tooLarge = "too-large"

  /// Documents that were saved again after the remote had not answered an edit of theirs and then called it too large.
  func shortened() throws -> [(collection: String, key: [UInt8])] {
    try edits(where: Self.isShortened)
  }

  /// Has such documents sent as they are now. Call it behind pulls, which show whether the remote took the edit.
  func send(_ shortened: [(collection: String, key: [UInt8])]) throws {
    try write { tx in
      for (name, key) in shortened {
        guard var entry = try tx.outboxEntry(name, key), Self.isShortened(entry),
          let sent = entry.flight?.sent ?? nil
        else { continue }
        entry.flight = nil
        entry.hold = nil
        if let newer = entry.newer, let record = newer.record, let base = SyncBase(newer.base) {
          if try tx.document(name, key, record: record) == tx.document(name, key, record: sent) {
            entry.base = newer.base
            entry.shadow = sent
            entry.newer = nil
            try tx.setSyncBase(name, key, to: base)
          } else if collections[name]?.rules.hasCounters == true {
            entry.hold = OutboxEntry.Hold(
              code: "",
              reason:
                "the server may have taken an earlier edit of it, so that its counters may have that already"
            )
          }
        }
        try tx.setOutboxEntry(name, key, to: entry)
      }
    }
  }

  private static func isShortened(_ entry: OutboxEntry) -> Bool {
    entry.hold?.code == tooLarge && (entry.flight?.sent ?? nil) != nil
  }

  private func edits(
    where matches: (OutboxEntry) -> Bool
  ) throws -> [(collection: String, key: [UInt8])] {
    var found: [(collection: String, key: [UInt8])] = []
    try store.read { snapshot in
      for name in collections.keys where snapshot.outline(of: name) != nil {
        try snapshot.forEachOutboxEntry(name) { key, entry in
          if matches(entry) { found.append((name, key)) }
          return true
        }
      }
    }
    return found
  }
}

/// One edit that was answered, in the transaction that saves what became of it.
private struct Answered {
  let tables: SyncTables
  let place: SyncTables.Place
  let key: [UInt8]
  var entry: OutboxEntry
  let scope: UInt16
  /// Which loading of the scope has given everything; nil while one is under way.
  var wholeLoading: UInt8?
  let mutation: Mutation
  /// Whether somebody is to settle what cannot be merged.
  let isAsking: Bool

  private var name: String { place.collection.name }

  mutating func take(
    _ result: PushResult, _ mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?,
    _ tx: inout WriteScope
  ) throws {
    // Another engine may have set it aside as unanswered.
    entry.hold = nil
    switch result {
    case .accepted(let revision):
      // A deletion of what was not there has no revision.
      try check(revision, least: mutation.document == nil ? 0 : 1)
      try accept(SyncBase(scope: scope, loading: SyncBase.unseen, revision: revision), &tx)
    case .conflict(let version):
      if let version { try check(version.revision, least: 1) }
      #if LARDER_MUTANTS
        if Mutant.conflictAccepted.isOn, let version {
          let base = SyncBase(scope: scope, loading: SyncBase.unseen, revision: version.revision)
          return try accept(base, &tx)
        }
      #endif
      var document: DynamicDocument?
      if let sent = version?.document { document = try place.document(sent, mutation.key, key) }
      // Where it came from last, if it came from elsewhere.
      var base = SyncBase(
        scope: SyncBase(entry.newer?.base)?.scope ?? scope, loading: SyncBase.unseen,
        revision: version?.revision ?? SyncTables.noRevision)
      // Somebody has had the edit sent although the document had left.
      let known = SyncBase(try tx.base(name, key))
      let isRetried = entry.newer == nil && entry.hasBase && known == nil
      // An answer does not say in which scope the version is. The pulls do, and until then it is in none; unless they
      // have brought it before, be it that it could not be saved.
      let refused = RefusedNote(noted: try tx.syncNote(RefusedNote.name(mutation.key)))
      if let known, known.revision == base.revision, !known.hasLeft {
        base = known
      } else if let refused, refused.revision == base.revision {
        base.scope = refused.scope
      } else if !isRetried {
        base.loading = SyncBase.left
      }
      var reconciling = Reconciling(place: place, key: key, entry: entry, isEarly: true)
      try reconciling.settle(Incoming(base: base, document: document), &tx)
      guard isRetried, document != nil else { return }
      base.loading = SyncBase.left
      if var entry = try tx.outboxEntry(name, key) {
        guard entry.newer != nil else { return }
        entry.newer?.base = base.bytes
        try tx.setOutboxEntry(name, key, to: entry)
      } else {
        // There is nothing more to send, and so it stays where it is.
        try tables.noteLeft(base, name, key, &tx)
      }
    case .rejected(let code, let reason): try reject(code, reason, mend, &tx)
    case .retry: break
    }
  }

  private func check(_ revision: String, least: Int) throws {
    guard (least...SyncBase.mostRevisionByteCount).contains(revision.utf8.count) else {
      throw RemoteError.malformed(
        "the revision of \(mutation.key) has \(revision.utf8.count) bytes")
    }
  }

  private mutating func accept(_ accepted: SyncBase, _ tx: inout WriteScope) throws {
    var base = accepted
    base.noteSeen(entry.newer)
    let sent = entry.isEditedInFlight ? entry.flight?.sent : nil
    let newer = entry.newer
    let flight = entry.flight
    let isDeleted = mutation.document == nil
    try tx.setSyncNote(RefusedNote.name(mutation.key), to: nil)
    // It was accepted before it left, or else it comes again when all scopes are read.
    if newer == nil, try tables.isMoving(name, key, tx) { base.loading = SyncBase.left }
    // It was accepted before a loading that did not have it, and then deleted; or else it comes with the next pull.
    if base.loading == SyncBase.unseen, !isDeleted {
      let known = SyncBase(try tx.base(name, key))
      if known == nil, hasLoaded(since: flight) {
        base.loading = SyncBase.missed
        try tables.noteMissed(scope, &tx)
      } else if known?.loading == SyncBase.missed {
        base.loading = SyncBase.missed
      }
    }
    // It may be the answer to what was sent before the document was deleted, and tells nothing of where it is.
    try tx.setSyncBase(name, key, to: isDeleted ? nil : base, isTold: false)
    if let sent {
      // Edited meanwhile: what was sent is what the next edit began with.
      entry.base = isDeleted ? nil : base.bytes
      entry.shadow = sent
    } else {
      entry.base = isDeleted ? nil : base.bytes
      entry.shadow = isDeleted ? nil : try tx.recordBytes(name, key)
    }
    entry.flight = nil
    entry.newer = nil
    entry.attemptCount = 0
    if let newer, let later = SyncBase(newer.base), later.revision != base.revision {
      guard newer.record != nil || mutation.base != nil else {
        // A document is made over a deletion as well, so nobody knows whether this one came before or behind.
        // Loading the scope tells: what was deleted behind is not in it.
        try tables.restart(scope, &tx)
        return try tx.setOutboxEntry(name, key, to: sent == nil ? nil : entry)
      }
      // It was there before the answer, and was accepted after the edit.
      let document = try newer.record.flatMap { try place.document(kept: $0, key, tx) }
      var reconciling = Reconciling(place: place, key: key, entry: entry)
      return try reconciling.settle(
        Incoming(base: later, document: document), as: isAsking ? .ask : nil, &tx)
    }
    #if LARDER_MUTANTS
      if Mutant.outboxCleared.isOn { return try tx.setOutboxEntry(name, key, to: nil) }
    #endif
    try tx.setOutboxEntry(name, key, to: sent == nil ? nil : entry)
  }

  /// Whether the scope was loaded from beginning to end since the edit was first sent.
  private func hasLoaded(since flight: OutboxEntry.Flight?) -> Bool {
    guard let wholeLoading, let destination = flight?.destination, destination.count > 2 else {
      return false
    }
    return destination[2] != wholeLoading
  }

  fileprivate mutating func reject(
    _ code: String, _ reason: String, _ mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?,
    _ tx: inout WriteScope
  ) throws {
    // U+0000 ends the code where it is stored.
    let code = code.filter { $0 != "\0" }
    let isEdited = entry.isEditedInFlight
    entry.flight = nil
    entry.attemptCount += 1
    if isEdited {
      // What stands here now is another edit, and may be taken.
      return try tx.setOutboxEntry(name, key, to: entry)
    }
    // What cannot be read cannot be mended.
    let document = try tx.recordBytes(name, key).flatMap {
      try? tx.document(name, key, record: $0)
    }
    let rejected = RejectedEdit(key: mutation.key, document: document, code: code, reason: reason)
    if entry.attemptCount <= 3, let mended = place.mended(rejected, key, by: mend) {
      entry.isDeleted = false
      try tx.save([mended], in: place.collection, keyField: place.keyField)
    } else {
      entry.hold = OutboxEntry.Hold(code: code.isEmpty ? "rejected" : code, reason: reason)
    }
    try tx.setOutboxEntry(name, key, to: entry)
  }
}

extension SyncTables.Place {
  /// The document that the app gives in place of a rejected one, under its key; nil where it gives none.
  fileprivate func mended(
    _ rejected: RejectedEdit, _ key: [UInt8],
    by mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?
  ) -> DynamicDocument? {
    guard var mended = mend?(rejected), mended != rejected.document else { return nil }
    mended[keyField] = outline.value(key)
    return mended
  }
}

extension OutboxEntry {
  /// Sets an edit aside whose document has left the scope that it was in.
  mutating func holdAsLeft(_ scope: String) {
    hold = Hold(code: SyncTables.left, reason: "the document is not in \(scope) any more")
  }
}
