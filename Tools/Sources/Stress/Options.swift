import Foundation

/// What the command line asks for.
struct Options {
  var names: [String] = []
  var scale = Scale.quick
  var seed = UInt64.random(in: 0...UInt64(UInt32.max))
  var keep = FileManager.default.temporaryDirectory
    .appendingPathComponent("stress-\(getpid())", isDirectory: true)
  /// How many cycles, whatever the scale says.
  var cycles: Int?
  var isHelp = false

  static var usage: String {
    let list = campaigns.map { campaign in
      "  \(campaign.name.padding(toLength: 12, withPad: " ", startingAt: 0))\(campaign.summary)"
    }
    return """
      usage: stress CAMPAIGN...|all [--scale quick|nightly|release] [--seed S] [--keep FOLDER]
                    [--cycles N]
             stress load [--help]

      Attacks a promise of the library, after it has seen that it would notice: what is broken on
      purpose comes first. Prints one closing line for each campaign; ends with status 1 if one
      failed, and keeps the folder of its stores.

      \(list.joined(separator: "\n"))

        --scale   quick unless told: all together in about four minutes
        --seed    of a run that is to be repeated
        --cycles  that many, where the scale's own number is not wanted
        --keep    where the stores stand while they run, and stay after a failure
      """
  }

  /// Reads the arguments that follow the program's name.
  ///
  /// - Throws: ``UsageError`` for an argument or a value that is not known.
  init(_ arguments: some Sequence<String>) throws {
    var rest = arguments.makeIterator()
    func value(of option: String) throws -> String {
      guard let value = rest.next() else { throw UsageError("\(option) needs a value") }
      return value
    }
    while let argument = rest.next() {
      switch argument {
      case "--help", "-h": isHelp = true
      case "--scale":
        let text = try value(of: argument)
        guard let known = Scale(rawValue: text) else {
          throw UsageError("\(text) is not a scale; there are quick, nightly and release")
        }
        scale = known
      case "--seed":
        let text = try value(of: argument)
        guard let number = UInt64(text) else { throw UsageError("\(text) is not a seed") }
        seed = number
      case "--cycles":
        let text = try value(of: argument)
        guard let number = Int(text), number > 0 else {
          throw UsageError("\(text) is no number of cycles")
        }
        cycles = number
      case "--keep": keep = URL(fileURLWithPath: try value(of: argument), isDirectory: true)
      case "all": names += campaigns.map { $0.name }
      default:
        guard campaigns.contains(where: { $0.name == argument }) else {
          throw UsageError("\(argument) is no campaign; stress --help lists them")
        }
        names.append(argument)
      }
    }
    guard isHelp || !names.isEmpty else {
      throw UsageError("say which campaign, or all; stress --help lists them")
    }
  }
}

/// The command line asks for something that there is not.
struct UsageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
