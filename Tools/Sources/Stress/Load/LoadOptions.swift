import Foundation

/// What `stress load` is to do.
struct LoadOptions {
  var writers = 2
  var readers = 2
  var watchers = 2
  var seconds = 30
  /// Where the page with the curves goes.
  var html: URL?
  /// Where the store stands, and stays; nil for a temporary place.
  var folder: URL?
  var isHelp = false

  static let usage = """
    usage: stress load [--writers N] [--readers M] [--watchers K] [--seconds S]
                       [--html FILE] [--folder DIR]

    Writes, reads and watches one store from so many processes each, and shows meanwhile how fast
    that is. Ctrl-C ends it early, and properly.

      --writers   2 unless told; each saves one to ten documents at a time
      --readers   2 unless told; documents by key, and every tenth time a query
      --watchers  2 unless told; each watches a hundredth of the documents, and reads the log
      --seconds   30 unless told
      --html      a page with the curves, which asks for no other file
      --folder    where the store stands, and stays; a new one in a temporary place unless told
    """

  /// Reads the arguments that follow `load`.
  ///
  /// - Throws: ``UsageError``.
  init(_ arguments: some Sequence<String>) throws {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      func value() throws -> String {
        guard let value = rest.next() else { throw UsageError("\(argument) needs a value") }
        return value
      }
      func number(_ range: ClosedRange<Int>) throws -> Int {
        let text = try value()
        guard let number = Int(text), range.contains(number) else {
          throw UsageError(
            "\(argument) is a number from \(range.lowerBound) to \(range.upperBound), not \(text)")
        }
        return number
      }
      switch argument {
      case "--help", "-h": isHelp = true
      case "--writers": writers = try number(0...64)
      case "--readers": readers = try number(0...64)
      case "--watchers": watchers = try number(0...64)
      case "--seconds": seconds = try number(1...86_400)
      case "--html": html = URL(fileURLWithPath: try value())
      case "--folder": folder = URL(fileURLWithPath: try value(), isDirectory: true)
      default: throw UsageError("\(argument) is no option of load; stress load --help lists them")
      }
    }
    guard isHelp || writers + readers + watchers > 0 else {
      throw UsageError("nobody would do anything")
    }
  }
}
