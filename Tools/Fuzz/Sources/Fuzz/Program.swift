import CFuzzer
import Foundation

/// `Fuzz TARGET [libFuzzer's own options and corpus folders]`, or `Fuzz TARGET --seeds FOLDER` to
/// write the inputs that a corpus begins with.
@main enum Program {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 1, let target = targets[arguments[1]] else {
      let names = targets.keys.sorted().joined(separator: ", ")
      FileHandle.standardError.write(Data("usage: Fuzz TARGET ..., one of \(names)\n".utf8))
      exit(64)
    }
    if arguments.count == 4, arguments[2] == "--seeds" {
      return try write(target.seeds(), to: URL(filePath: arguments[3], directoryHint: .isDirectory))
    }
    exit(run(target, [arguments[0]] + arguments[2...]))
  }

  private static let targets: [String: any (FuzzTarget & Sendable).Type] = [
    "record": RecordTarget.self, "codable": CodableTarget.self, "json": JSONTarget.self,
    "csv": CSVTarget.self,
  ]

  private static func write(_ seeds: [String: [UInt8]], to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, bytes) in seeds { try Data(bytes).write(to: folder.appending(path: name)) }
  }

  /// The target that runs. Set once, before libFuzzer calls back, which has one thread.
  nonisolated(unsafe) private static var running: (any FuzzTarget)?

  private static func run(_ target: any FuzzTarget.Type, _ arguments: [String]) -> Int32 {
    running = target.init()
    // For ever: libFuzzer keeps them.
    let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(
      capacity: arguments.count + 1)
    for (index, argument) in arguments.enumerated() { list[index] = strdup(argument) }
    list[arguments.count] = nil
    var count = Int32(arguments.count)
    var start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = list
    return LLVMFuzzerRunDriver(&count, &start) { bytes, count in
      Program.running?.run(FuzzInput(UnsafeRawBufferPointer(start: bytes, count: count)))
      return 0
    }
  }
}
