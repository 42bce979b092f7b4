/// Documents by the value of a field, with what each of the values has.
struct RunningGroups<Key: Storable & Sendable, Value: Sendable>: RunningAggregate {
  typealias Finish = (_ documentCount: Int, FieldTotal) throws -> Value

  private struct Group {
    /// The value of the field, as index entries have it: equal for equal ones, and in their order.
    let bytes: [UInt8]
    let key: Key
    var documentCount = 0
    var total = FieldTotal()
  }

  /// Where the bytes of a value are made.
  private final class Scratch {
    var bytes = OrderedBytes(capacity: 256)
  }

  private let operand: Operand
  private let values: Evaluation
  private let hasTotals: Bool
  private let finish: Finish

  private var groups: [Group] = []
  private var places: [[UInt8]: Int] = [:]
  private let scratch = Scratch()
  /// Groups whose total is rounded.
  private var roundedCount = 0

  /// - Parameter total: What is added up for each group; nil where they are counted only.
  init(
    by operand: Operand, totalOf total: Operand? = nil, in collection: Collection,
    _ finish: @escaping Finish
  ) {
    self.operand = operand
    self.finish = finish
    hasTotals = total != nil
    values = Evaluation(reading: [operand] + (total.map { [$0] } ?? []), in: collection)
  }

  mutating func add(_ record: borrowing RecordReader) throws {
    try change(record, by: 1) { $0.add($1) }
  }

  mutating func remove(_ record: borrowing RecordReader) throws {
    try change(record, by: -1) { $0.remove($1) }
  }

  private mutating func change(
    _ record: borrowing RecordReader, by count: Int,
    _ change: (inout FieldTotal, Larder.Value) -> Void
  ) throws {
    scratch.bytes.removeAll()
    try values.putValue(0, record, into: &scratch.bytes)
    let value: Larder.Value = hasTotals ? try values.value(1, record) : .null
    let place = try place(of: Array(scratch.bytes.bytes), record)
    groups[place].documentCount += count
    if hasTotals {
      let wasRounded = groups[place].total.isRounded
      change(&groups[place].total, value)
      if groups[place].total.isRounded, !wasRounded { roundedCount += 1 }
    }
    if groups[place].documentCount == 0 { removeGroup(at: place) }
  }

  private mutating func place(of key: [UInt8], _ record: borrowing RecordReader) throws -> Int {
    if let place = places[key] { return place }
    let value = try values.value(0, record).oneSpelling
    groups.append(Group(bytes: key, key: try value.decoded(from: operand)))
    places[key] = groups.count - 1
    return groups.count - 1
  }

  /// The last one takes its place.
  private mutating func removeGroup(at place: Int) {
    if groups[place].total.isRounded { roundedCount -= 1 }
    places[groups[place].bytes] = nil
    guard let last = groups.popLast(), place < groups.count else { return }
    groups[place] = last
    places[last.bytes] = place
  }

  mutating func add(contentsOf other: Self) {
    for group in other.groups {
      guard let place = places[group.bytes] else {
        places[group.bytes] = groups.count
        groups.append(group)
        if group.total.isRounded { roundedCount += 1 }
        continue
      }
      groups[place].documentCount += group.documentCount
      let wasRounded = groups[place].total.isRounded
      groups[place].total.add(contentsOf: group.total)
      if groups[place].total.isRounded, !wasRounded { roundedCount += 1 }
    }
  }

  var dependsOnOrder: Bool { roundedCount > 0 }

  /// A group with a sum of doubles takes about a kilobyte, and each of some dozens of parts may have all groups.
  var isLarge: Bool { groups.count > 1_000 }

  /// The groups that have documents, in the order of their values.
  func result() throws -> [ValueGroup<Key, Value>] {
    try groups.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map {
      ValueGroup(key: $0.key, value: try finish($0.documentCount, $0.total))
    }
  }
}
