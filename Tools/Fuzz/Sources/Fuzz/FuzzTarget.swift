/// Code that takes bytes which nobody vouches for.
protocol FuzzTarget {
  init()

  /// Traps when the code under test does not keep what it promises. What it throws is no fault.
  func run(_ input: FuzzInput)

  /// Inputs that a corpus begins with, by file name; the same in every run.
  static func seeds() throws -> [String: [UInt8]]
}
