extension Array {
  /// The first place whose element `belongs`, where all elements behind it do too.
  func partitioningIndex(_ belongs: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
