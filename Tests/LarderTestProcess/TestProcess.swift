import Foundation
import Larder
import LarderLMDB

/// The other process of the tests: one command, told in its arguments.
///
/// It prints what it did line by line, each line in one system call and only once it is true,
/// and ends when its input ends, where it waits for its parent.
@main enum TestProcess {
  static func main() {
    var arguments = CommandLine.arguments.dropFirst().makeIterator()
    guard let command = arguments.next(), let folder = arguments.next() else {
      fail("usage: LarderTestProcess COMMAND FOLDER [ARGUMENT...]")
    }
    let rest = Array(arguments)
    do {
      switch command {
      case "write": try write(folder)
      case "create": try create(folder)
      case "hammer": try hammer(folder, name: rest[0], batches: Int(rest[1]) ?? 0)
      case "step": try step(folder)
      case "declare": try declare(folder, collection: rest[0], fields: rest.dropFirst())
      case "index-and-die": try indexAndDie(folder, collection: rest[0], field: rest[1])
      case "open": try open(folder, isReadOnly: rest.first == "read-only")
      case "open-and-die": try openAndDie(folder)
      case "hold-reader": try holdReader(folder)
      case "hold-writer": try holdWriter(folder)
      case "count": try count(folder)
      case "sum": try sum(folder)
      case "never-empty": try neverEmpty(folder)
      case "migrate": try migrate(folder, to: Int(rest[0]) ?? 0, limit: rest.dropFirst().first)
      case "use": try use(folder)
      case "rename": try rename(folder)
      case "quarantine": try quarantine(folder)
      case "compact": try compact(folder)
      case "restore": try restore(folder, from: rest[0])
      case "consume": try consume(folder, rest[0])
      case "refresh": try refresh(folder)
      case "edit-synced": try editSynced(folder, round: rest[0])
      case "untyped": try untyped(folder, collection: rest[0])
      case "make-all-kinds": try StoreOfAllKinds.make(at: folder)
      default: fail("unknown command \(command)")
      }
    } catch {
      say("error \(name(of: error)) \(error)")
      exit(1)
    }
  }

  /// Saves batches of random numbers for ever, and prints each one's number once it is saved.
  private static func write(_ folder: String) throws {
    let store = try Store(at: folder)
    say("open")
    let notes = store.repository(of: Note.self)
    var generator = SystemRandomNumberGenerator()
    while true {
      let nonce = generator.next()
      let count = Int.random(in: 1...20, using: &generator)
      let batch = Note.batch(nonce: nonce, count: count, using: &generator)
      try notes.save(batch)
      say("saved \(String(nonce, radix: 36)) \(count)")
    }
  }

  /// Does what it is told with documents whose type it does not have: `save KEY TITLE`, `delete KEY`,
  /// `search TEXT`.
  private static func untyped(_ folder: String, collection name: String) throws {
    let collection = try Store(at: folder).collection(name)
    say("open")
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { continue }
      let parts = words[1].split(separator: " ", maxSplits: 1).map(String.init)
      switch words[0] {
      case "save":
        let key = Value.integer(Int64(parts[0]) ?? 0)
        try collection.save([["id": key, "title": .string(parts[1])]])
        say("saved")
      case "delete":
        try collection.delete(key: .integer(Int64(parts[0]) ?? 0))
        say("deleted")
      default:
        do {
          say("found \(try collection.count(.search(words[1])))")
        } catch let error as DynamicQueryError {
          say("refused \(error.part)")
        }
      }
    }
  }

  /// Creates a store and saves one document in it.
  private static func create(_ folder: String) throws {
    let store = try Store(at: folder)
    try store.repository(of: Note.self).save(Note(id: "first", nonce: "first", batchCount: 1))
    say("saved first 1")
    waitForParent()
  }

  /// Stops for its parent once the file is aside.
  private static func quarantine(_ folder: String) throws {
    let report = try Store.quarantine(at: URL(filePath: folder)) { news in
      say("aside \(news.subject.map { URL(filePath: $0).path } ?? "")")
      waitForLine()
    }
    say("saved \(report.salvage.documentCount)")
  }

  private static func compact(_ folder: String) throws {
    let report = try Store(at: folder).compact(timeout: .seconds(60))
    say("compacted \(report.byteCountAfter)")
    waitForParent()
  }

  private static func restore(_ folder: String, from backup: String) throws {
    say("open")
    let report = try Store.restore(from: backup, to: folder)
    say("restored \(report.documentCount)")
  }

  /// Consumes under a name until it is killed.
  private static func consume(_ folder: String, _ name: String) throws {
    let store = try Store(at: folder)
    Task.detached {
      do {
        for try await _ in store.changes(for: name) { say("consuming") }
      } catch {
        fail("\(error)")
      }
    }
    waitForParent()
  }

  /// Saves `batches` batches to two shared collections and to one of its own, in turn.
  private static func hammer(_ folder: String, name: String, batches: Int) throws {
    let store = try Store(at: folder)
    say("open")
    waitForLine()
    let notes = store.repository(of: Note.self)
    var generator = SystemRandomNumberGenerator()
    for number in 0..<batches {
      let nonce = generator.next()
      try notes.save(Note.batch(nonce: nonce, count: 3, using: &generator))
      say("saved \(String(nonce, radix: 36)) 3")
      for collection in ["shared", "own-\(name)"] {
        let document: DynamicDocument = [
          "id": .string("\(name)-\(number)"), "field-\(name)": .integer(Int64(number)),
        ]
        try store.collection(collection).save([document], keyField: "id")
      }
    }
    try store.close()
    say("done")
  }

  /// Saves one note whenever its parent says so.
  private static func step(_ folder: String) throws {
    let store = try Store(at: folder)
    say("open")
    var number = 0
    while true {
      waitForLine()
      number += 1
      try store.repository(of: Note.self).save(Note(id: "\(number)", nonce: "", batchCount: 1))
      say("saved \(number) 1")
    }
  }

  /// Declares fields one by one: each with a save of a document that has it.
  private static func declare(
    _ folder: String, collection: String, fields: some Sequence<String>
  ) throws {
    let store = try Store(at: folder)
    say("open")
    waitForLine()
    for field in fields {
      let document: DynamicDocument = ["id": .string(field), field: .integer(1)]
      try store.collection(collection).save([document], keyField: "id")
      say("declared \(field)")
    }
    waitForParent()
  }

  /// Declares an index over many documents, and ends before it is built.
  private static func indexAndDie(_ folder: String, collection: String, field: String) throws {
    let store = try Store(at: folder)
    try store.collection(collection).createIndex(on: .ascending(FieldPath(field: field)))
    let isBuilding = try store.collection(collection).indexes().contains { $0.state == .building }
    say("building \(isBuilding)")
    _exit(0)
  }

  private static func open(_ folder: String, isReadOnly: Bool) throws {
    let store = try Store(at: folder, options: StoreOptions(isReadOnly: isReadOnly))
    say("open")
    let report = try store.check()
    say(report.isSound ? "sound" : "unsound \(report.problems)")
    say("count \(try store.repository(of: Note.self).count())")
    if isReadOnly {
      do {
        try store.repository(of: Note.self).eraseAllData()
        say("wrote")
      } catch {
        say("error \(name(of: error))")
      }
    }
    try store.close()
    say("closed")
  }

  /// Ends in the midst of a write and of a read, without closing.
  private static func openAndDie(_ folder: String) throws {
    let store = try Store(at: folder)
    try store.write { tx in
      try tx.save(Note(id: "never", nonce: "never", batchCount: 1))
      try store.read { snapshot in
        say("dying \(snapshot.sequence)")
        kill(getpid(), SIGKILL)
        while true { pause() }
      }
    }
  }

  private static func holdReader(_ folder: String) throws {
    let store = try Store(at: folder)
    try store.read { snapshot in
      say("holding \(try snapshot.count(Note.all))")
      waitForLine()
      say("held \(try snapshot.count(Note.all))")
    }
    waitForParent()
  }

  /// Holds the write transaction until its parent says so.
  private static func holdWriter(_ folder: String) throws {
    let store = try Store(at: folder)
    try store.write { tx in
      try tx.save(Note(id: "held", nonce: "held", batchCount: 1))
      say("holding")
      waitForLine()
    }
    say("saved held 1")
    waitForParent()
  }

  private static func count(_ folder: String) throws {
    let store = try Store(at: folder)
    say("count \(try store.repository(of: Note.self).count())")
    try store.close()
  }

  /// Adds up all balances, again and again until its parent ends.
  private static func sum(_ folder: String) throws {
    let store = try Store(at: folder)
    say("open")
    let isOver = inputEnds()
    var sums: Set<Int> = []
    var moments = 0
    while !isOver() {
      sums.insert(
        try store.read { try $0.fetch(Account.all).reduce(0) { $0 + $1.balance } })
      moments += 1
      if moments == 10 { say("summed") }
    }
    say("sums \(sums.sorted().map(String.init).joined(separator: ","))")
  }

  /// Counts the accounts, again and again until its parent ends.
  private static func neverEmpty(_ folder: String) throws {
    let store = try Store(at: folder)
    say("open")
    let isOver = inputEnds()
    let accounts = store.repository(of: Account.self)
    var counts: Set<Int> = []
    var moments = 0
    while !isOver() {
      counts.insert(try accounts.count())
      counts.insert(try accounts.fetch(Account.all).count)
      moments += 1
      if moments == 10 { say("counted") }
    }
    say("counts \(counts.sorted().map(String.init).joined(separator: ","))")
  }

  /// Migrates the numbers to a version: their text becomes an integer, or text again, and their
  /// count of changes grows. With a limit, no file may grow beyond it until the parent says so.
  private static func migrate(_ folder: String, to version: Int, limit: String?) throws {
    let store = try Store(at: folder)
    func run() throws {
      try store.collection("Number").migrate(to: version) { news in
        say("batch \(news.completed) \(news.total ?? 0)")
      } _: { number in
        switch number["text"] {
        case .string(let text): number["text"] = .integer(Int64(text) ?? -1)
        case .integer(let value): number["text"] = .string("\(value)")
        default: fail("no text in \(number)")
        }
        guard case .integer(let changes)? = number["changes"] else { fail("no count") }
        number["changes"] = .integer(changes + 1)
      }
      say("version \(try store.collection("Number").version())")
    }
    say("open")
    if let limit { setFileLimit(UInt(limit)) }
    do {
      try run()
    } catch {
      say("error \(name(of: error)) \(error)")
      waitForLine()
      setFileLimit(nil)
      try run()
    }
    try store.close()
  }

  /// What an app of the first version finds: reads and writes the numbers without their type, once
  /// for each line of its parent.
  private static func use(_ folder: String) throws {
    let store = try Store(at: folder)
    let numbers = store.collection("Number")
    let isOver = inputEnds()
    say("open")
    while true {
      waitForLine()
      do {
        say("saved \(try numbers.save([["id": -1, "text": "-1", "changes": 0]]))")
      } catch {
        say("error \(name(of: error))")
      }
      if isOver() { return }
    }
  }

  /// Renames the numbers once its parent says so.
  private static func rename(_ folder: String) throws {
    let store = try Store(at: folder)
    say("open")
    waitForLine()
    let count = try store.write { try $0.rename(store.collection("Number"), to: "Renamed") }
    say("renamed \(count) of version \(try store.collection("Renamed").version())")
    try store.close()
  }
}

extension TestProcess {
  /// Makes notes that a remote is to be told of, one after the other, and says each that is kept, until it is killed.
  private static func editSynced(_ folder: String, round: String) throws {
    let store = try Store(at: folder)
    try store.declare(Note.self)
    try store.prepareOutbox()
    try store.write(as: .sync) { try $0.setSynced("Note", true) }
    let notes = store.repository(of: Note.self)
    for number in 0..<1_000_000 {
      let id = "\(round)-\(String(format: "%07d", number))"
      try notes.save(Note(id: id, nonce: "", batchCount: number))
      say(id)
    }
  }
}

// MARK: - Talking with the parent

extension TestProcess {
  static func say(_ line: String) {
    let bytes = Array("\(line.replacing("\n", with: " "))\n".utf8)
    guard Foundation.write(1, bytes, bytes.count) == bytes.count else { exit(3) }
  }

  static func fail(_ line: String) -> Never {
    say(line)
    exit(2)
  }

  /// The name of the error's case.
  static func name(of error: any Error) -> String {
    switch error {
    case StoreError.storage(let failure): "storage(\(failure.code))"
    case StoreError.closed: "closed"
    case StoreError.readOnly: "readOnly"
    case StoreError.nestedWrite: "nestedWrite"
    default: Mirror(reflecting: error).children.first?.label ?? "\(type(of: error))"
    }
  }

  /// Waits for a line of the parent, or for its end.
  static func waitForLine() {
    var byte: UInt8 = 0
    while read(0, &byte, 1) == 1, byte != UInt8(ascii: "\n") {}
  }

  static func waitForParent() {
    var byte: UInt8 = 0
    while read(0, &byte, 1) == 1 {}
  }

  /// Whether the parent has closed our input, asked without waiting.
  static func inputEnds() -> () -> Bool {
    {
      var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
      return poll(&input, 1, 0) > 0
    }
  }

  static func setFileLimit(_ byteCount: UInt?) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = byteCount ?? limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  }
}
