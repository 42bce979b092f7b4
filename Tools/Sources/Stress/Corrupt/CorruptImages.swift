import Foundation
import Larder

/// Damages stores and uses them: `corrupt-images BASES SEED COUNT FROM FOLDER KEEP`.
///
/// Says `at N` before it opens the file with this number, then how it went. One that takes more than
/// a second of the processor is ended by the signal of a timer.
struct CorruptImages: Worker {
  static let role = "corrupt-images"

  private let bases: [(file: [UInt8], base: CorruptBase)]
  private let seed: UInt64
  private let folder: String
  private let keep: String

  static func run(_ arguments: [String]) throws {
    let bases = try (0..<CorruptBase.count).map { number in
      let path = "\(arguments[0])/\(number)"
      let data = try Data(contentsOf: URL(fileURLWithPath: path + ".json"))
      let base = try JSONDecoder().decode(CorruptBase.self, from: data)
      let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")))
      return (file: file, base: base)
    }
    let images = CorruptImages(
      bases: bases, seed: UInt64(arguments[1]) ?? 0, folder: arguments[4], keep: arguments[5])
    try images.run(from: Int(arguments[3]) ?? 0, count: Int(arguments[2]) ?? 0)
  }

  private func run(from first: Int, count: Int) throws {
    for number in first..<count {
      var random = SeededGenerator(seed: seed ^ UInt64(number + 1) &* 0xD6E8_FEB8_6659_FD93)
      let choice = Int.random(in: 0..<bases.count, using: &random)
      let base = bases[choice]
      let damage = Damage.allCases[number % Damage.allCases.count]
      var bytes = base.file
      let isSearch = Bool.random(using: &random)
      damage.apply(
        to: &bytes, entries: isSearch ? base.base.searchRecords : base.base.entries,
        using: &random)
      // Opening refuses a small file whose keys are out of order; damage that comes later it cannot see.
      let isLate = damage == .entry
      if !isLate, choice == CorruptBase.large {
        try writeClosed(base.file, damaged: bytes)
      } else {
        try write(isLate ? base.file : bytes, to: folder)
      }
      say("at \(number) \(damage)")
      let before = random
      setTimer(seconds: Self.longestSeconds)
      var reader = CorruptReader(folder, base.base)
      // A small one as one is looked at where its size alone would be no reason.
      reader.pageCheck = choice == CorruptBase.large ? .whenSuspicious : .always
      let outcome = reader.outcome(&random, overwriting: isLate ? bytes : nil)
      setTimer(seconds: 0)
      switch outcome {
      case .refused: say("refused")
      case .told: say("told")
      case .toldLate: say("late")
      case .harmless: say("harmless")
      case .wrong(let text):
        random = before
        try write(bytes, to: keep + "/file-\(number)")
        say("wrong \(number) \(damage) \(text)")
      }
    }
    say("end")
  }

  private func write(_ bytes: [UInt8], to folder: String) throws {
    try? FileManager.default.removeItem(atPath: folder)  // Where there was one before.
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guard FileManager.default.createFile(atPath: folder + "/data.mdb", contents: Data(bytes)),
      chmod(folder + "/data.mdb", 0o600) == 0
    else { throw ChildProcess.Failed(description: "\(folder) cannot be written") }
  }

  /// Damages a store where it lies, which was closed as stores are.
  private func writeClosed(_ sound: [UInt8], damaged: [UInt8]) throws {
    try write(sound, to: folder)
    try Store(at: folder).close()
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder + "/data.mdb"))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(damaged))
    try file.close()
  }

  /// What counts as a hang. A build for debugging takes most of a second to build a damaged search index anew
  /// while a search reads every document.
  #if DEBUG
    private static let longestSeconds = 10
  #else
    private static let longestSeconds = 1
  #endif

  /// Of the processor's time, so that a machine that is busy with others makes nothing fail.
  private func setTimer(seconds: Int) {
    var timer = itimerval()
    timer.it_value.tv_sec = seconds
    // A number in the signature, and an enumeration in the name.
    setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
  }
}
