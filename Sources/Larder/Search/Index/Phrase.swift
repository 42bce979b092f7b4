/// Words behind one another. A place is a field in the upper half of a number, and a position in the lower.
enum Phrase {
  /// The places among `starts` that another word stands so many positions behind. Both are ascending; a
  /// place that comes twice counts as one.
  static func starts(
    _ starts: [UInt64], followedBy places: [UInt64], after offset: Int
  ) -> [UInt64] {
    var next = 0
    return starts.filter { start in
      let wanted = start + UInt64(offset)
      while next < places.count, places[next] < wanted { next += 1 }
      return next < places.count && places[next] == wanted
    }
  }
}
