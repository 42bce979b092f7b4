/// Passes over JSON, or what is to be it: finds where strings, objects and arrays end, and looks at nothing else.
struct JSONSkim {
  private let source: [UInt8]
  /// The place of the next byte.
  var next = 0

  init(_ source: [UInt8]) { self.source = source }

  var isAtEnd: Bool { next >= source.count }

  /// What was passed from a place on.
  func bytes(from start: Int) -> ArraySlice<UInt8> { source[start..<min(next, source.count)] }

  /// Where the value of the member begins whose name was passed; nil where it begins otherwise.
  func value(beginningWith first: Unicode.Scalar) -> Int? {
    valueAhead().flatMap { source[$0] == UInt8(ascii: first) ? $0 : nil }
  }

  /// Where the value of the member begins whose name was passed; nil where a string was passed that is no name.
  func valueAhead() -> Int? {
    var place = next
    var hasColon = false
    while place < source.count {
      switch source[place] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): place += 1
      case UInt8(ascii: ":") where !hasColon:
        hasColon = true
        place += 1
      default: return hasColon ? place : nil
      }
    }
    return nil
  }

  /// Passes a string, a bracket, or one other byte.
  ///
  /// - Returns: How much deeper it is nested behind that.
  mutating func passToken() -> Int {
    let first = source[next]
    next += 1
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"): return -1
    case UInt8(ascii: "\""):
      while next < source.count, source[next] != UInt8(ascii: "\"") {
        next += source[next] == UInt8(ascii: "\\") ? 2 : 1
      }
      next += 1
      return 0
    default: return 0
    }
  }

  /// Passes an object, an array or a string, or up to what separates another value from the next one.
  ///
  /// - Returns: Whether it has an end.
  mutating func passValue() -> Bool {
    guard !isAtEnd else { return false }
    if ![UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\"")].contains(source[next]) {
      while !isAtEnd,
        ![UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains(source[next])
      {
        next += 1
      }
      return !isAtEnd
    }
    var depth = 0
    while !isAtEnd {
      depth += passToken()
      if depth == 0 { return true }
    }
    return false
  }
}
