import Foundation

/// The library that stands between a process and the system; see `fault.c`.
struct FaultShim: Sendable {
  /// What happens to the call.
  enum Effect: Int32, CaseIterable, Sendable {
    case none, fail, short, kill, torn
  }

  /// One call that does not go well.
  struct Point: Equatable, Sendable, CustomStringConvertible {
    let kind: String
    /// Which of its kind since the scenario began.
    let number: Int
    let effect: Effect
    var error: Int32 = 0
    /// Whether those behind it do not go well either.
    var isSticky = false

    var description: String {
      let what = effect == .fail ? "\(ErrorNames.names[error] ?? "\(error)")" : "\(effect)"
      return "\(kind)#\(number) \(what)\(isSticky ? " sticky" : "")"
    }
  }

  /// Compiles it into the folder; the variable that has a process begin with it.
  static func build(in folder: URL) throws -> [String: String] {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("fault.c")
    let library = folder.appendingPathComponent("fault.so")
    let compiler = try ChildProcess(
      ["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", library.path, source.path])
    guard compiler.wait() == 0 else { throw UsageError("\(source.path) cannot be compiled") }
    return ["LD_PRELOAD": library.path]
  }

  static func obstacle() -> String? {
    #if os(Linux)
      let compiler = try? ChildProcess(["cc", "--version"])
      return compiler?.wait() == 0 ? nil : "there is no C compiler"
    #else
      return "calls are intercepted on Linux only"
    #endif
  }

  // MARK: In a process that began with it

  private typealias Watch = @convention(c) (UnsafePointer<CChar>) -> Void
  private typealias Arm = @convention(c) (Int32, Int, Int32, Int32, Int32) -> Void
  private typealias Disarm = @convention(c) () -> Int
  private typealias Count = @convention(c) (Int32) -> Int
  private typealias Name = @convention(c) (Int32) -> UnsafePointer<CChar>?

  private let watchCall: Watch
  private let armCall: Arm
  private let disarmCall: Disarm
  private let countCall: Count
  /// The kinds of calls by their number there.
  let kinds: [String]

  init() throws {
    func find<Call>(_ name: String, _ type: Call.Type) throws -> Call {
      guard let found = dlsym(nil, name) else { throw UsageError("begun without fault.so") }
      return unsafeBitCast(found, to: type)
    }
    watchCall = try find("larder_fault_watch", Watch.self)
    armCall = try find("larder_fault_arm", Arm.self)
    disarmCall = try find("larder_fault_disarm", Disarm.self)
    countCall = try find("larder_fault_count", Count.self)
    let name = try find("larder_fault_name", Name.self)
    var kinds: [String] = []
    while let text = name(Int32(kinds.count)) { kinds.append(String(cString: text)) }
    self.kinds = kinds
  }

  /// From now on calls on the files of a folder count, which exists.
  func watch(_ folder: String) {
    // As the library calls it.
    guard let path = realpath(folder, nil) else { return }
    watchCall(path)
    free(path)
  }

  /// Runs `body` with one call that does not go well, or with none; how many were met.
  func run(_ point: Point?, _ body: () -> Void) -> Int {
    let kind = point.flatMap { kinds.firstIndex(of: $0.kind) } ?? -1
    armCall(
      Int32(kind), point?.number ?? 0, point?.effect.rawValue ?? 0, point?.error ?? 0,
      point?.isSticky == true ? 1 : 0)
    body()
    return disarmCall()
  }

  /// How many calls of each kind there were since the last `run` began.
  var counts: [(kind: String, count: Int)] {
    kinds.indices.map { (kinds[$0], countCall(Int32($0))) }
  }
}

enum ErrorNames {
  static let names: [Int32: String] = [
    EIO: "EIO", ENOSPC: "ENOSPC", ENOMEM: "ENOMEM", EMFILE: "EMFILE", EACCES: "EACCES",
    EAGAIN: "EAGAIN",
  ]
}
