/// Those who wait, in their order. Any of them may leave at any time, at a cost that does not grow
/// with how many there are.
struct WaitingLine<Element> {
  /// In the order of their numbers; nil for those who have left.
  private var places: [(number: UInt64, element: Element?)] = []
  /// Before it, all have left.
  private var head = 0
  private var lastNumber: UInt64 = 0
  private(set) var count = 0
  /// How many places were looked at to give some back, for tests of how it is done.
  private(set) var movedCount = 0

  var isEmpty: Bool { count == 0 }

  /// All who wait.
  // Not by a key path: of a generic type one is put together anew each time, in a microsecond or more.
  var elements: some Sequence<Element> { places[head...].lazy.compactMap { $0.element } }

  /// All who wait, with the numbers to leave by.
  var numbered: some Sequence<(number: UInt64, element: Element)> {
    places[head...].lazy.compactMap { place in place.element.map { (place.number, $0) } }
  }

  /// Returns the number to leave by.
  @discardableResult
  mutating func append(_ element: Element) -> UInt64 {
    lastNumber += 1
    places.append((lastNumber, element))
    count += 1
    return lastNumber
  }

  /// Nil where there is none.
  mutating func popFirst() -> Element? {
    while head < places.count {
      defer { tidyUp() }
      head += 1
      if let element = places[head - 1].element {
        places[head - 1].element = nil
        count -= 1
        return element
      }
    }
    return nil
  }

  mutating func removeFirst(_ count: Int) { for _ in 0..<count { _ = popFirst() } }

  /// Returns who leaves; nil where it is gone already.
  mutating func remove(_ number: UInt64) -> Element? {
    var (low, high) = (head, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].number < number { low = middle + 1 } else { high = middle }
    }
    guard low < places.count, places[low].number == number, let element = places[low].element
    else { return nil }
    places[low].element = nil
    count -= 1
    tidyUp()
    return element
  }

  /// Gives back what those have taken who have left, once they are more than those who wait.
  private mutating func tidyUp() {
    guard places.count > 2 * count + 64 else { return }
    movedCount += places.count
    places.removeAll { $0.element == nil }
    head = 0
  }
}
