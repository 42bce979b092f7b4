import Foundation

/// The stage of one case: a folder, hands, files that nobody may touch, and what was acknowledged.
final class Scene {
  let name: String
  let folder: String
  private let trial: Trial
  private var victims: [(path: String, bytes: Data, status: FileStatus)] = []
  /// What was acknowledged, by the path of its store.
  private var kept: [String: [String: String]] = [:]
  private var generator: SeededGenerator
  private(set) var tally = Tally()
  private var first: Hand?
  /// Whether the file system may end a process, once in the case, for lack of room (SIGBUS).
  var mayEndByDisk = false
  private var wasEndedByDisk = false

  /// - Parameter base: Where its folder is made; nil for the trial's own.
  init(_ name: String, _ trial: Trial, part: Int, in base: URL? = nil) throws {
    self.name = name
    self.trial = trial
    generator = trial.generator(part)
    folder = (base ?? trial.folder).appendingPathComponent(name).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    tally.cycles = 1
  }

  /// The path of something in the case's folder.
  func path(_ name: String) -> String { folder + "/" + name }

  /// The hand that most is done with.
  func hand() throws -> Hand {
    if let first { return first }
    let hand = try Hand(trial)
    first = hand
    return hand
  }

  func newHand(wrapper: [String] = [], environment: [String: String] = [:]) throws -> Hand {
    try Hand(trial, wrapper: wrapper, environment: environment)
  }

  func count(_ name: String) { tally.count(name) }

  func fault(_ text: String) { tally.faults.append("\(name): \(text)") }

  // MARK: Saying what is to come

  /// What must go well; its answer, and nothing where it did not.
  @discardableResult
  func must(_ answer: Hand.Answer, _ what: String) -> [String] {
    switch answer {
    case .done(let words): return words
    case .refused(let error): fault("\(what) was refused: [\(error.kind)] \(error.text)")
    case .ended(let status): ended(status, what)
    case .silent: fault("\(what) did not end within three minutes")
    }
    return []
  }

  /// What must be refused, by an error of this kind whose text has these words and says what to do.
  func refused(_ answer: Hand.Answer, _ what: String, _ kinds: String..., words: [String] = []) {
    refused(answer, what, kinds, words: words)
  }

  func refused(_ answer: Hand.Answer, _ what: String, _ kinds: [String], words: [String] = []) {
    switch answer {
    case .done(let words): fault("\(what) was not refused: \(words.prefix(3))")
    case .ended(let status): ended(status, what)
    case .silent: fault("\(what) did not end within three minutes")
    case .refused(let error):
      if !error.isTyped { fault("\(what) failed with no error of the store: \(error.text)") }
      if !kinds.contains(error.kind) {
        fault("\(what) failed with [\(error.kind)], not \(kinds): \(error.text)")
      }
      if !error.isHelpful { fault("\(what) does not say what to do: \(error.text)") }
      for word in words where !error.text.contains(word) {
        fault("\(what) does not say `\(word)`: \(error.text)")
      }
    }
  }

  private func ended(_ status: Int32, _ what: String) {
    if wasEndedByDisk, status >= 0 { return }  // The same process, which does nothing more.
    if mayEndByDisk, !wasEndedByDisk, status == -SIGBUS {
      wasEndedByDisk = true
      return count("ended-by-disk")
    }
    if status < 0 { tally.signals += 1 }
    fault("\(what) ended the process with \(status < 0 ? "signal \(-status)" : "\(status)")")
  }

  // MARK: Stores

  /// A number of this case's own.
  func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  func nonce() -> String { String(generator.next(), radix: 36) }

  /// Saves, and remembers it where it was acknowledged.
  @discardableResult
  func save(_ hand: Hand, _ store: String, _ id: String, at path: String) -> Hand.Answer {
    let nonce = nonce()
    let answer = hand.ask("save", store, id, nonce)
    if case .done = answer {
      kept[path, default: [:]][id] = nonce
      tally.acked += 1
    }
    return answer
  }

  func remember(_ id: String, _ nonce: String, at path: String) {
    kept[path, default: [:]][id] = nonce
    tally.acked += 1
  }

  /// Saves crates of so many bytes until one is refused, which must be for one of `kinds`; their
  /// number, which is what must be there from now on. With `most` it may also end without that.
  func fill(
    _ hand: Hand, _ store: String, _ prefix: String, byteCount: Int, most: Int = 100_000,
    _ kinds: String..., words: [String] = [], at path: String
  ) -> Int {
    let answer = must(hand.ask("fill", store, prefix, "\(byteCount)", "\(most)"), "filling")
    let count = answer.first.flatMap { Int($0) } ?? 0
    for index in 0..<count { remember("\(prefix)-\(index)", prefix, at: path) }
    if answer.count == 3 {
      refused(
        .refused(ErrorWords(kind: answer[1], text: answer[2])), "filling", kinds, words: words)
    } else if count == 100_000 {
      fault("it was never full")
    }
    return count
  }

  /// Deletes those that were filled in, one by one, which must go well.
  func empty(_ hand: Hand, _ store: String, _ prefix: String, _ range: Range<Int>, at path: String)
  {
    let answer = hand.ask("empty", store, prefix, "\(range.lowerBound)", "\(range.upperBound)")
    let count = must(answer, "deleting").first
    if let count, count != "\(range.count)" { fault("\(count) of \(range.count) were deleted") }
    // Where it was refused, those that are gone are not known; the fault is told.
    for index in range { kept[path]?["\(prefix)-\(index)"] = nil }
    if count != nil { tally.acked += range.count }
  }

  /// A store with one parcel in it that nobody has open.
  func makeStore(_ name: String = "store") throws -> String {
    let path = path(name)
    let hand = try hand()
    must(hand.ask("open", "made", path), "making a store")
    must(save(hand, "made", "made", at: path), "a save")
    must(hand.ask("close", "made"), "closing")
    return path
  }

  /// Opens a store with a hand of its own and compares it with what was acknowledged.
  func verify(_ path: String, with hand: Hand? = nil, rememberedAs name: String? = nil) throws {
    let hand = try hand ?? newHand()
    must(hand.ask("open", "verify", path), "opening afterwards")
    let check = must(hand.ask("check", "verify"), "checking")
    if check != ["sound"] {
      tally.corrupt += 1
      fault("the store is not sound: \(check.prefix(3))")
    }
    let found = Set(must(hand.ask("list", "verify"), "reading"))
    let expected = Set((kept[name ?? path] ?? [:]).map { "\($0.key)=\($0.value)" })
    tally.lost += expected.subtracting(found).count
    tally.phantom += found.subtracting(expected).count
    if found != expected { fault("found \(found.sorted()), acknowledged \(expected.sorted())") }
    must(save(hand, "verify", "after", at: name ?? path), "a save afterwards")
    must(hand.ask("close", "verify"), "closing afterwards")
  }

  // MARK: Victims

  /// A file that must stay as it is.
  func victim(_ name: String, _ bytes: Data = Data("precious\n".utf8)) throws -> String {
    let path = path(name)
    try bytes.write(to: URL(fileURLWithPath: path))
    chmod(path, 0o600)
    protect(path)
    return path
  }

  /// From now on the file must stay as it is.
  func protect(_ path: String) {
    guard let bytes = FileManager.default.contents(atPath: path), let status = FileStatus(path)
    else { return fault("\(path) cannot be read") }
    victims.append((path, bytes, status))
  }

  /// Every victim must be as it was; from now on it may be touched.
  func checkVictims() {
    for victim in victims {
      let status = FileStatus(victim.path)
      if FileManager.default.contents(atPath: victim.path) != victim.bytes {
        fault("the bytes of \(victim.path) have changed")
      } else if status != victim.status {
        fault("\(victim.path) was \(victim.status), and is \(status.map { "\($0)" } ?? "gone")")
      }
    }
    victims = []
  }

  /// Ends the case.
  func end() -> Tally {
    checkVictims()
    first = nil
    return tally
  }
}

/// What a file is besides its bytes.
struct FileStatus: Equatable {
  let mode: mode_t
  let inode: ino_t
  let owner: uid_t
  let seconds: Int
  let nanoseconds: Int

  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    mode = status.st_mode
    inode = status.st_ino
    owner = status.st_uid
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
  }

  /// The rights, as with `chmod`.
  var rights: mode_t { mode & 0o7777 }
}
