internal import LarderLMDB

/// What a watcher wants to hear of: documents of one collection that a filter holds for, before
/// a change or after it.
struct WatchInterest: Sendable {
  let collection: String
  let filter: FilterNode
  /// Where not nil, only documents under these keys are meant.
  var keys: Set<[UInt8]>? = nil
  /// Changes of these origins are no news.
  let ignored: Set<ChangeOrigin>
  /// How the watcher's type stands to the collection.
  let binding: @Sendable (Catalogue) throws -> CollectionBinding?

  init<Model, Entity>(
    _ form: ModelForm<Model, Entity>, _ filter: FilterNode, ignoring ignored: Set<ChangeOrigin> = []
  ) {
    collection = form.collection
    // A filter that names a key is not asked of any other document.
    keys = filter.askedKey.map { [$0] }
    self.filter = keys == nil ? filter : .constant(true)
    self.ignored = ignored
    binding = { try form.binding($0) }
  }

  init(_ range: ReadRange, ignoring ignored: Set<ChangeOrigin>) {
    collection = range.collection
    self.ignored = ignored
    binding = range.binding
    switch range.extent {
    case .keys(let keys):
      filter = .constant(true)
      self.keys = keys
    case .matches(let filter):
      self.filter = filter
    }
  }
}

/// The watchers of one collection, and which of them a change is for.
///
/// Those whose filter asks for one value of a field stand under that value, so that a change looks
/// only at the watchers of the two values that it has, before and after. The filters of all
/// others are asked, which is cheaper than waking their tasks.
final class WatchGroup: @unchecked Sendable {  // Guard: the lock of the hub, or its round.
  /// One interest of a watcher, which may have several.
  final class Member {
    fileprivate let seat: WatchSeat
    let interest: WatchInterest
    /// The filter as it is asked of records, for one binding.
    private var evaluation: (binding: CollectionBinding, filter: Evaluation)?
    /// The last round in which it was told.
    fileprivate var round: UInt64 = 0
    fileprivate let runsCode: Bool
    /// How much work it is to search a document, as ``FilterNode/searchWeight`` counts it.
    fileprivate let searchWeight: Int

    fileprivate init(_ seat: WatchSeat, _ interest: WatchInterest) {
      self.seat = seat
      self.interest = interest
      runsCode = interest.filter.runsCode
      searchWeight = interest.filter.searchWeight
    }

    fileprivate func concerns(
      _ key: UnsafeRawBufferPointer, _ records: [UnsafeRawBufferPointer], _ catalogue: Catalogue
    ) throws -> Bool {
      if let keys = interest.keys { return keys.contains([UInt8](key)) }
      guard let binding = try interest.binding(catalogue) else { return true }
      if evaluation?.binding !== binding {
        evaluation = (binding, Evaluation(interest.filter, in: binding.collection))
      }
      guard let filter = evaluation?.filter else { return true }
      return try records.contains { try binding.matches(filter, key: key, record: $0) }
    }
  }

  private typealias Members = [ObjectIdentifier: Member]

  /// The watchers that ask for one value of a field.
  private final class Route {
    let step: FieldStep
    var members: [[UInt8]: Members] = [:]
    private var evaluation: (binding: CollectionBinding, values: Evaluation)?

    init(_ step: FieldStep) { self.step = step }

    /// The value of the field in a record, as bytes.
    func value(
      _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer,
      _ binding: CollectionBinding
    ) throws -> [UInt8] {
      if evaluation?.binding !== binding {
        let key = SortKey(operand: .field([step]), isReversed: false)
        evaluation = (
          binding, Evaluation(.constant(true), order: [key], in: binding.collection)
        )
      }
      guard let values = evaluation?.values else { return [] }
      var bytes = OrderedBytes(capacity: 64)
      try values.putSortValues(
        RecordReader(record, binding: binding, schema: binding.anonymous, depth: 1), into: &bytes)
      return [UInt8](bytes.bytes)
    }
  }

  private let collection: String
  private var routes: [Route] = []
  private var others: Members = [:]
  private(set) var count = 0
  /// Those who are asked about every change.
  var askedCount: Int { others.count }
  /// How many of them have code of the app in their filters.
  private var codeCount = 0
  var runsCode: Bool { codeCount > 0 }
  /// The sum of their search weights.
  private(set) var searchWeight = 0
  private var bound: (catalogue: Catalogue, binding: CollectionBinding)?

  init(_ collection: String) { self.collection = collection }
}

// MARK: Members

extension WatchGroup {
  /// - Parameter isExact: Whether all of the filter is asked, also where it wants one value of a field:
  ///   whoever is told then need not look whether it is concerned. It cannot be removed.
  func add(_ seat: WatchSeat, _ interest: WatchInterest, isExact: Bool = false) -> Member {
    let member = Member(seat, interest)
    count += 1
    guard !isExact, let (step, value) = interest.filter.askedValue else {
      others[ObjectIdentifier(member)] = member
      if member.runsCode { codeCount += 1 }
      searchWeight += member.searchWeight
      return member
    }
    let route: Route
    if let known = routes.first(where: { $0.step == step }) {
      route = known
    } else {
      route = Route(step)
      routes.append(route)
    }
    route.members[value, default: [:]][ObjectIdentifier(member)] = member
    return member
  }

  func remove(_ member: Member) {
    let id = ObjectIdentifier(member)
    count -= 1
    guard let (step, value) = member.interest.filter.askedValue,
      let place = routes.firstIndex(where: { $0.step == step })
    else {
      guard let member = others.removeValue(forKey: id) else { return }
      if member.runsCode { codeCount -= 1 }
      searchWeight -= member.searchWeight
      return
    }
    routes[place].members[value]?[id] = nil
    if routes[place].members[value]?.isEmpty == true { routes[place].members[value] = nil }
    if routes[place].members.isEmpty { routes.remove(at: place) }
  }

}

extension FilterNode {
  /// Whether it has code of the app in it.
  fileprivate var runsCode: Bool {
    switch self {
    case .conjunction(let parts), .disjunction(let parts): parts.contains(where: \.runsCode)
    case .not(let part): part.runsCode
    case .search(let condition):
      condition.tokenizer.identifier != nil
        || condition.fields.contains { if case .computed = $0 { true } else { false } }
    // Only a filter without any can be encoded.
    default: encoded() == nil
    }
  }

  /// How much work it is to search a document, in readings of its texts: one for each search and each condition about
  /// the inside or the end of a text, and one more for each prefix and each word with typos, with which every word of
  /// the document is compared.
  fileprivate var searchWeight: Int {
    switch self {
    case .conjunction(let parts), .disjunction(let parts):
      parts.reduce(0) { $0 + $1.searchWeight }
    case .not(let part): part.searchWeight
    case .search(let condition):
      (condition.expression.wanted.joined() + condition.expression.excluded)
        .reduce(1) { $0 + $1.tests.count { !$0.isExact } }
    case .test(_, .containsText), .test(_, .hasSuffix), .test(_, .containsElement),
      .test(.derived, _):
      1
    case .test(_, .containsMatch(let part)): max(1, part.searchWeight)
    default: 0
    }
  }

  /// A field and the one value that the filter wants it to have, as bytes; nil where it does not
  /// want one, or where the bytes of equal values may differ.
  fileprivate var askedValue: (FieldStep, [UInt8])? {
    let parts: [FilterNode] = if case .conjunction(let parts) = self { parts } else { [self] }
    for part in parts {
      guard case .test(.field(let path), .compare(.equal, let value)) = part, path.count == 1 else {
        continue
      }
      switch (IndexScalar(path[0].kind), value) {
      case (.string?, .string), (.integer?, .integer), (.integer?, .unsigned), (.uuid?, .uuid),
        (.bool?, .bool):
        var bytes = OrderedBytes(capacity: 64)
        bytes.put(whole: value)
        return (path[0], [UInt8](bytes.bytes))
      default: continue
      }
    }
    return nil
  }
}

// MARK: Telling

extension WatchGroup {
  /// Tells those whom a change concerns.
  ///
  /// - Parameters:
  ///   - position: The change up to which all were told.
  ///   - round: Tells this reading of the log from others.
  func tell(
    _ header: ChangePackHeader, _ change: LoggedChange, _ snapshot: borrowing Snapshot,
    after position: UInt64, round: UInt64
  ) {
    do {
      guard !concernsAll(change), let binding = binding(in: snapshot.catalogue)
      else { return tellAll(header, after: position, round) }
      var records: [UnsafeRawBufferPointer] = change.kind == .inserted ? [] : [change.old]
      if let now = try snapshot.transaction.withValue(
        for: change.key, in: binding.collection.documents, { $0 })
      {
        records.append(now)
      }
      for route in routes {
        for record in records {
          let value = try route.value(change.key, record, binding)
          if let members = route.members[value] { tell(members, header, position, round) }
        }
      }
      for member in others.values where isOpen(member, header, round) {
        if try member.concerns(change.key, records, snapshot.catalogue) {
          tell(member, position, round)
        }
      }
    } catch {
      // A record that cannot be read may be anybody's: who looks finds out.
      tellAll(header, after: position, round)
    }
  }

  /// How many bytes are searched, at most, to find out whom a change concerns.
  func searchedByteCount(
    _ change: LoggedChange, _ snapshot: borrowing Snapshot
  ) throws -> Int {
    guard searchWeight > 0, !concernsAll(change), let binding = binding(in: snapshot.catalogue)
    else { return 0 }
    let now = try snapshot.transaction.withValue(
      for: change.key, in: binding.collection.documents, \.count)
    return searchWeight * (change.old.count + (now ?? 0))
  }

  /// Whether everybody is told of a change, for want of a record that could be asked.
  private func concernsAll(_ change: LoggedChange) -> Bool {
    switch change.kind {
    case .erased, .unlogged: true
    case .deleted: change.old.isEmpty
    case .inserted, .updated: false
    }
  }

  private func binding(in catalogue: Catalogue) -> CollectionBinding? {
    if let bound, bound.catalogue === catalogue { return bound.binding }
    guard let binding = catalogue.binding(ofCollection: collection) else { return nil }
    bound = (catalogue, binding)
    return binding
  }

  private func isOpen(_ member: Member, _ header: ChangePackHeader, _ round: UInt64) -> Bool {
    member.round != round && !member.interest.ignored.contains(header.origin)
  }

  private func tell(
    _ members: Members, _ header: ChangePackHeader, _ position: UInt64, _ round: UInt64
  ) {
    for member in members.values where isOpen(member, header, round) {
      tell(member, position, round)
    }
  }

  private func tell(_ member: Member, _ position: UInt64, _ round: UInt64) {
    member.round = round
    member.seat.signal(after: position)
  }

  private func tellAll(_ header: ChangePackHeader, after position: UInt64, _ round: UInt64) {
    tell(others, header, position, round)
    for route in routes {
      for members in route.members.values { tell(members, header, position, round) }
    }
  }
}
