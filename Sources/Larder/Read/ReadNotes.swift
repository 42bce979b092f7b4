/// A part of a collection that was read: what is there now, and whatever comes to stand there.
struct ReadRange: Sendable {
  enum Extent: Sendable, Equatable {
    /// The documents under these keys, whether they exist or not.
    case keys(Set<[UInt8]>)
    /// The documents that a filter matches.
    case matches(FilterNode)
  }

  let collection: String
  /// The type that it was read as.
  let type: ObjectIdentifier
  var extent: Extent
  /// How that type stands to the collection.
  let binding: @Sendable (Catalogue) throws -> CollectionBinding?
}

extension ReadRange: Equatable {
  static func == (left: Self, right: Self) -> Bool {
    left.collection == right.collection && left.type == right.type && left.extent == right.extent
  }
}

/// Notes which parts of which collections are read of a snapshot. Whatever reads documents for
/// callers asks for their binding by way of a ``Moment``, or of the snapshot, and says there what it is
/// going to read.
///
/// Used by the one thread that has the snapshot.
final class ReadNotes {
  private(set) var ranges: [ReadRange] = []

  /// More keys or filters than these of one type are taken for all of its collection: looking at
  /// each change would cost more than reading again in vain.
  private static let (mostKeys, mostFilters) = (4096, 256)

  func note<Entity: Document>(
    _ type: Entity.Type, in collection: String, key: UnsafeRawBufferPointer,
    _ binding: @escaping @Sendable (Catalogue) throws -> CollectionBinding?
  ) {
    let id = ObjectIdentifier(type)
    let place = ranges.firstIndex { range in
      guard range.collection == collection, range.type == id else { return false }
      return switch range.extent {
      case .keys: true
      case .matches(let filter): filter == .constant(true)
      }
    }
    guard let place else {
      let range = ReadRange(
        collection: collection, type: id, extent: .keys([[UInt8](key)]), binding: binding)
      return ranges.append(range)
    }
    guard case .keys(var keys) = ranges[place].extent else { return }
    // Given away meanwhile, so that inserting copies nothing.
    ranges[place].extent = .keys([])
    keys.insert([UInt8](key))
    ranges[place].extent = .keys(keys)
    if keys.count > Self.mostKeys { noteAll(id, in: collection, binding) }
  }

  func note<Entity: Document>(
    _ type: Entity.Type, in collection: String, matching filter: FilterNode,
    _ binding: @escaping @Sendable (Catalogue) throws -> CollectionBinding?
  ) {
    let id = ObjectIdentifier(type)
    if filter == .constant(true) { return noteAll(id, in: collection, binding) }
    var count = 0
    for range in ranges where range.collection == collection && range.type == id {
      guard case .matches(let known) = range.extent else { continue }
      if known == .constant(true) || known == filter { return }
      count += 1
    }
    if count == Self.mostFilters { return noteAll(id, in: collection, binding) }
    ranges.append(
      ReadRange(collection: collection, type: id, extent: .matches(filter), binding: binding))
  }

  private func noteAll(
    _ type: ObjectIdentifier, in collection: String,
    _ binding: @escaping @Sendable (Catalogue) throws -> CollectionBinding?
  ) {
    ranges.removeAll { $0.collection == collection && $0.type == type }
    ranges.append(
      ReadRange(
        collection: collection, type: type, extent: .matches(.constant(true)), binding: binding))
  }
}
