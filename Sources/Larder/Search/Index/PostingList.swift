/// The documents that have a word, ascending by id, with what ranking and phrases need of each.
struct PostingList {
  struct Entry {
    let id: UInt32
    /// How often the word is there, by weight.
    var frequency: UInt32
    /// The weighted words of the whole document.
    let length: UInt32
  }

  /// One array, not one for each property: adding a posting then asks once whether the array is its own.
  var entries: [Entry] = []
  /// Where the word stands, as `PositionCoding` writes it; empty where nobody asked.
  var positions: [UInt8] = []
  /// For each entry, where its positions end.
  var positionEnds: [UInt32] = []

  var count: Int { entries.count }
  var ids: [UInt32] { entries.map(\.id) }

  /// Adds those of later ids.
  mutating func append(_ list: PostingList) {
    let start = UInt32(positions.count)
    entries += list.entries
    positions += list.positions
    positionEnds += list.positionEnds.map { $0 + start }
  }

  func positions(at place: Int) -> ArraySlice<UInt8> {
    positions[(place == 0 ? 0 : Int(positionEnds[place - 1]))..<Int(positionEnds[place])]
  }

  /// Each document once, with the sum of the frequencies, where ids come in any order and without positions.
  func summed() -> PostingList {
    guard let first = entries.first else { return self }
    var (low, high) = (first.id, first.id)
    for entry in entries { (low, high) = (min(low, entry.id), max(high, entry.id)) }
    // A place for each id costs less than sorting, unless most stay empty.
    let span = Int(high - low) + 1
    return span <= 16 * count ? summed(from: low, span: span) : summedBySorting()
  }

  private func summed(from low: UInt32, span: Int) -> PostingList {
    var sums = [UInt32](repeating: 0, count: span)
    var lengths = [UInt32](repeating: 0, count: span)
    for entry in entries {
      let place = Int(entry.id - low)
      sums[place] &+= entry.frequency
      lengths[place] = entry.length
    }
    var sum = PostingList()
    for place in sums.indices where sums[place] > 0 {
      sum.entries.append(
        Entry(id: low + UInt32(place), frequency: sums[place], length: lengths[place]))
    }
    return sum
  }

  private func summedBySorting() -> PostingList {
    var sum = PostingList()
    for entry in entries.sorted(by: { $0.id < $1.id }) { sum.add(entry) }
    return sum
  }

  /// Adds an entry of the last id, or of a later one.
  private mutating func add(_ entry: Entry) {
    if entries.last?.id == entry.id {
      entries[count - 1].frequency &+= entry.frequency
    } else {
      entries.append(entry)
    }
  }

  /// The union of several, with the sum of the frequencies and the union of the positions.
  ///
  /// - Throws: ``SearchDamage``.
  static func sum(
    of lists: [PostingList], positions coding: PositionCoding
  ) throws(SearchDamage) -> PostingList {
    if lists.count <= 1 { return lists.first ?? PostingList() }
    var order: [(id: UInt32, list: Int, place: Int)] = []
    order.reserveCapacity(lists.reduce(0) { $0 + $1.count })
    for (number, list) in lists.enumerated() {
      for (place, entry) in list.entries.enumerated() { order.append((entry.id, number, place)) }
    }
    order.sort { $0.id < $1.id }
    var sum = PostingList()
    var places: [UInt64] = []
    for (index, (id, number, place)) in order.enumerated() {
      let list = lists[number]
      sum.add(list.entries[place])
      places += try list.wholePositions(at: place, coding)
      if index + 1 < order.count, order[index + 1].id == id { continue }
      places.sort()
      coding.encode(places, into: &sum.positions)
      sum.positionEnds.append(UInt32(sum.positions.count))
      places.removeAll(keepingCapacity: true)
    }
    return sum
  }

  /// The documents that have the words of all lists behind one another, in one field.
  ///
  /// - Parameter lists: With positions.
  /// - Throws: ``SearchDamage``.
  static func phrase(
    of lists: [PostingList], weights: [UInt32], _ coding: PositionCoding
  ) throws(SearchDamage) -> PostingList {
    guard let shortest = lists.min(by: { $0.count < $1.count }) else { return PostingList() }
    var result = PostingList()
    var places = [Int](repeating: 0, count: lists.count)
    for entry in shortest.entries {
      var isEverywhere = true
      for (number, list) in lists.enumerated() {
        places[number] = list.entries.place(atOrAfter: entry.id, by: \.id, from: places[number])
        guard places[number] < list.count else { return result }
        if list.entries[places[number]].id != entry.id {
          isEverywhere = false
          break
        }
      }
      guard isEverywhere else { continue }
      let frequency = try adjacentCount(lists, places, weights, coding)
      guard frequency > 0 else { continue }
      result.entries.append(Entry(id: entry.id, frequency: frequency, length: entry.length))
    }
    return result
  }

  /// How often the words stand behind one another in one document, by weight.
  private static func adjacentCount(
    _ lists: [PostingList], _ places: [Int], _ weights: [UInt32], _ coding: PositionCoding
  ) throws(SearchDamage) -> UInt32 {
    var starts: [UInt64] = []
    for (number, list) in lists.enumerated() {
      let found = try list.wholePositions(at: places[number], coding)
      if number == 0 {
        starts = found
      } else {
        starts = Phrase.starts(starts, followedBy: found, after: number)
      }
      if starts.isEmpty { return 0 }
    }
    return starts.reduce(0) { $0 &+ weights[min(Int($1 >> 32), weights.count - 1)] }
  }

  /// Places as field and position in one number, ascending.
  private func wholePositions(
    at place: Int, _ coding: PositionCoding
  ) throws(SearchDamage) -> [UInt64] {
    var found: [UInt64] = []
    let slice = positions(at: place)
    let result = positions.withUnsafeBytes { bytes -> Result<Void, SearchDamage> in
      Result { () throws(SearchDamage) in
        var reader = VarintReader(UnsafeRawBufferPointer(rebasing: bytes[slice.indices]))
        try coding.read(&reader) { found.append(UInt64($0) << 32 | UInt64($1)) }
      }
    }
    try result.get()
    return found
  }
}

extension Array {
  /// The first place from one on with this id or a later one, found by steps that double.
  @inline(__always)
  func place(atOrAfter wanted: UInt32, by id: (Element) -> UInt32, from start: Int) -> Int {
    guard start < count, id(self[start]) < wanted else { return start }
    var (low, step) = (start, 1)
    while low + step < count, id(self[low + step]) < wanted {
      low += step
      step *= 2
    }
    var high = Swift.min(low + step, count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if id(self[middle]) < wanted { low = middle } else { high = middle }
    }
    return high
  }
}
