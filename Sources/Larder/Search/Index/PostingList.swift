/// The documents that have a word, ascending by id, with what ranking and phrases need of each.
struct PostingList {
  var ids: [UInt32] = []
  /// How often, by weight.
  var frequencies: [UInt32] = []
  /// The weighted words of the whole document.
  var lengths: [UInt32] = []
  /// Where the word stands, as `PositionCoding` writes it; empty where nobody asked.
  var positions: [UInt8] = []
  /// For each id, where its positions end.
  var positionEnds: [UInt32] = []

  var count: Int { ids.count }

  /// Adds those of later ids.
  mutating func append(_ list: PostingList) {
    let start = UInt32(positions.count)
    ids += list.ids
    frequencies += list.frequencies
    lengths += list.lengths
    positions += list.positions
    positionEnds += list.positionEnds.map { $0 + start }
  }

  func positions(at place: Int) -> ArraySlice<UInt8> {
    positions[(place == 0 ? 0 : Int(positionEnds[place - 1]))..<Int(positionEnds[place])]
  }

  /// Each document once, with the sum of the frequencies, where ids come in any order and without positions.
  func summed() -> PostingList {
    guard let low = ids.min(), let high = ids.max() else { return self }
    // A place for each id costs less than sorting, unless most stay empty.
    let span = Int(high - low) + 1
    return span <= 16 * count ? summed(from: low, span: span) : summedBySorting()
  }

  private func summed(from low: UInt32, span: Int) -> PostingList {
    var sums = [UInt32](repeating: 0, count: span)
    var known = [UInt32](repeating: 0, count: span)
    for place in ids.indices {
      let id = Int(ids[place] - low)
      sums[id] &+= frequencies[place]
      known[id] = lengths[place]
    }
    var sum = PostingList()
    for id in sums.indices where sums[id] > 0 {
      sum.ids.append(low + UInt32(id))
      sum.frequencies.append(sums[id])
      sum.lengths.append(known[id])
    }
    return sum
  }

  private func summedBySorting() -> PostingList {
    var sum = PostingList()
    for place in ids.indices.sorted(by: { ids[$0] < ids[$1] }) {
      if sum.ids.last == ids[place] {
        sum.frequencies[sum.count - 1] &+= frequencies[place]
      } else {
        sum.ids.append(ids[place])
        sum.frequencies.append(frequencies[place])
        sum.lengths.append(lengths[place])
      }
    }
    return sum
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
      for place in list.ids.indices { order.append((list.ids[place], number, place)) }
    }
    order.sort { $0.id < $1.id }
    var sum = PostingList()
    var places: [UInt64] = []
    for (index, (id, number, place)) in order.enumerated() {
      let list = lists[number]
      if sum.ids.last == id {
        sum.frequencies[sum.count - 1] &+= list.frequencies[place]
      } else {
        sum.ids.append(id)
        sum.frequencies.append(list.frequencies[place])
        sum.lengths.append(list.lengths[place])
      }
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
    for (candidate, id) in shortest.ids.enumerated() {
      var isEverywhere = true
      for (number, list) in lists.enumerated() {
        places[number] = list.place(atOrAfter: id, from: places[number])
        guard places[number] < list.count else { return result }
        if list.ids[places[number]] != id {
          isEverywhere = false
          break
        }
      }
      guard isEverywhere else { continue }
      let frequency = try adjacentCount(lists, places, weights, coding)
      guard frequency > 0 else { continue }
      result.ids.append(id)
      result.frequencies.append(frequency)
      result.lengths.append(shortest.lengths[candidate])
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

  /// The first place with this id or a later one, found by steps that double.
  func place(atOrAfter id: UInt32, from start: Int) -> Int {
    guard start < ids.count, ids[start] < id else { return start }
    var (low, step) = (start, 1)
    while low + step < ids.count, ids[low + step] < id {
      low += step
      step *= 2
    }
    var high = min(low + step, ids.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if ids[middle] < id { low = middle } else { high = middle }
    }
    return high
  }
}
