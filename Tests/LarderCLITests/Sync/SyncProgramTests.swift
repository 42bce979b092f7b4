import Foundation
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

@Suite("larder sync, pending and conflicts", .timeLimit(.minutes(20)))
struct SyncProgramTests {
  let larder: LarderProgram
  let server: LoopbackSyncServer

  init() throws {
    larder = try LarderProgram()
    server = try LoopbackSyncServer()
  }

  private func store(_ name: String) -> String {
    larder.folder.appending(path: name).path(percentEncoded: false)
  }

  /// Waits without one of the few threads that tasks share, which the server needs for its answers.
  private func finish(
    _ arguments: [String], input: String = "", token: String = "secret"
  ) async throws -> LarderProgram.Outcome {
    let larder = larder
    return try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Result {
            let process = try larder.start(arguments, environment: ["LARDER_TOKEN": token])
            try? process.input.write(contentsOf: Data(input.utf8))
            try process.input.close()
            return try process.wait()
          })
      }.start()
    }
  }

  private func save(_ json: String, in name: String) async throws {
    let outcome = try await finish(
      ["import", "-", "--into", "items", "--key", "id", "--store", store(name)], input: json)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  private func command(
    _ name: String, scopes: [String] = ["a"], account: String = "anna", _ more: [String]
  ) -> [String] {
    ["sync", "--remote", server.address, "--account", account, "--store", store(name)]
      + scopes.flatMap { ["--scope", $0] } + more
  }

  @discardableResult
  private func sync(
    _ name: String, _ more: String..., scopes: [String] = ["a"], account: String = "anna",
    token: String = "secret"
  ) async throws -> LarderProgram.Outcome {
    try await finish(command(name, scopes: scopes, account: account, more), token: token)
  }

  private func run(_ words: String..., on name: String) async throws -> LarderProgram.Outcome {
    try await finish(words + ["--store", store(name)])
  }

  /// The rows of the table that have something, such as `pulled 2`.
  private func rows(_ outcome: LarderProgram.Outcome) -> [String] {
    outcome.output.split(separator: "\n").dropFirst()
      .map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
      .filter { !$0.hasSuffix(" 0") }
  }

  /// Two stores with one document that both have, at 1 litre.
  private func prepareTwo() async throws {
    try await save(#"[{"id": "milk", "litres": 1, "shop": "corner"}]"#, in: "phone")
    try await sync("phone", "--collection", "items")
    try await sync("tablet", "--collection", "items:id")
  }

  @Test("what is saved in one store comes into another, and back when it is edited there")
  func wholeWay() async throws {
    try await save(#"[{"id": "milk", "litres": 1}, {"id": "tea", "litres": 2}]"#, in: "phone")

    let first = try await sync("phone", "--collection", "items")
    let second = try await sync("tablet", "--collection", "items:id")
    try await save(#"[{"id": "milk", "litres": 7}]"#, in: "tablet")
    let third = try await sync("tablet")
    let fourth = try await sync("phone")
    let fifth = try await sync("phone")

    #expect(first.status == 0 && first.errors == "" && rows(first) == ["pushed 2"])
    #expect(second.status == 0 && rows(second) == ["pulled 2"])
    #expect(third.status == 0 && rows(third) == ["pushed 1"])
    #expect(fourth.status == 0 && rows(fourth) == ["pulled 1"])
    #expect(fifth.status == 0 && rows(fifth) == [])
    #expect(try await run("get", "items", "milk", on: "phone").output.contains(#""litres": 7"#))
    #expect(
      try await run("export", "items", on: "phone").output
        == (await run("export", "items", on: "tablet").output))
  }

  @Test("an edit is pending until it is sent, with its reason where it waits for more")
  func pending() async throws {
    try await save(#"[{"id": "milk", "litres": 1}]"#, in: "phone")
    #expect(try await run("pending", on: "phone").output == "the store was never synced\n")
    try await sync("phone", "--collection", "items")
    #expect(try await run("pending", on: "phone").output == "nothing is pending\n")
    // Its key belongs to a document of a scope that the user may not see.
    server.put(#"{"id": "tea", "litres": 9}"#, under: "tea", in: "b")
    server.remote.allow("me", reading: ["a"], writing: ["a"])
    try await save(#"[{"id": "milk", "litres": 2}, {"id": "tea", "litres": 3}]"#, in: "phone")

    let before = try await run("pending", on: "phone")
    let synced = try await sync("phone")
    let after = try await run("pending", on: "phone")

    #expect(before.status == 0)
    #expect(before.output.contains(/items\/milk +saved +due/))
    #expect(before.output.contains(/items\/tea +saved +due/))
    #expect(synced.status == 1 && rows(synced) == ["pushed 1", "rejected 1"])
    #expect(!after.output.contains("items/milk"))
    #expect(after.output.contains(/items\/tea +saved +rejected +a document of a scope/))
  }

  @Test("a document that does not fit here is refused, and the others come")
  func refused() async throws {
    try await prepareTwo()
    server.put(#"{"id": "tea", "litres": "much"}"#, under: "tea")
    server.put(#"{"id": "oil", "litres": 3}"#, under: "oil")

    let synced = try await sync("phone")

    #expect(synced.status == 1 && rows(synced) == ["pulled 2", "refused 1"])
    #expect(try await run("count", "items", on: "phone").output == "2\n")
    #expect(try await run("pending", on: "phone").output.contains(/items\/tea +refused +/))
  }

  @Test("both sides are merged field by field, and counters are added up")
  func merging() async throws {
    try await prepareTwo()
    server.put(#"{"id": "milk", "litres": 11, "shop": "market"}"#, under: "milk")
    try await save(#"[{"id": "milk", "litres": 4, "shop": "corner"}]"#, in: "phone")

    let synced = try await sync("phone", "--counter", "litres")

    #expect(synced.status == 0 && rows(synced).contains("merged 1"))
    let milk = try await run("get", "items", "milk", on: "phone").output
    #expect(milk.contains(#""litres": 14"#) && milk.contains("market"))
    #expect(try server.number("litres", of: "milk") == 14)
  }

  @Test(
    "with --ask a conflict waits, is listed, and is settled as one says",
    arguments: [("here", 4), ("there", 11), ("merged", 14)])
  func conflict(how: String, litres: Int) async throws {
    try await prepareTwo()
    server.put(#"{"id": "milk", "litres": 11, "shop": "corner"}"#, under: "milk")
    try await save(#"[{"id": "milk", "litres": 4, "shop": "corner"}]"#, in: "phone")

    let asked = try await sync("phone", "--ask")
    let listed = try await run("conflicts", on: "phone")
    let settled = try await run(
      "conflicts", "--settle", "items/milk=\(how)", "--counter", "litres", on: "phone")
    let again = try await run("conflicts", "--settle", "items/milk=\(how)", on: "phone")
    let synced = try await sync("phone")

    #expect(asked.status == 1 && rows(asked).contains("conflicts 1"))
    // The other field is the same on both sides.
    let lines = listed.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.last?.contains(/^items\/milk +litres +1 +4 +11$/) == true)
    #expect(settled.status == 0 && settled.output.hasPrefix("items/milk: settled"))
    #expect(settled.output.contains("next sync") == (how != "there"))
    #expect(again.status == 1 && again.errors.contains("is in no conflict"))
    #expect(synced.status == 0)
    #expect(try server.number("litres", of: "milk") == litres)
    #expect(try await run("conflicts", on: "phone").output == "there are no conflicts\n")
    #expect(
      try await run("get", "items", "milk", on: "phone").output.contains("\"litres\": \(litres)"))
  }

  @Test("an edit of what the server has deleted shows as such")
  func deletion() async throws {
    try await prepareTwo()
    server.remote.remove(RemoteKey("items", "milk"))
    try await save(#"[{"id": "milk", "litres": 4, "shop": "corner"}]"#, in: "phone")

    try await sync("phone", "--ask")

    #expect(try await run("conflicts", on: "phone").output.contains(/items\/milk .*4.* deleted\n/))
  }

  @Test("down only sends nothing, and what is edited then is not noted")
  func down() async throws {
    server.put(#"{"id": "milk", "litres": 1}"#, under: "milk")
    let first = try await sync("phone", "--collection", "items:id", "--down")
    try await save(#"[{"id": "tea", "litres": 2}]"#, in: "phone")

    let second = try await sync("phone", "--collection", "items", "--down")

    #expect(rows(first) == ["pulled 1"] && second.status == 0 && rows(second) == [])
    #expect(server.remote.documents(in: "a").count == 1)
    #expect(try await run("pending", on: "phone").output == "nothing is pending\n")
  }

  @Test("edits of one account are not sent under another")
  func accounts() async throws {
    try await prepareTwo()
    try await save(#"[{"id": "tea", "litres": 2}]"#, in: "phone")

    let outcome = try await sync("phone", account: "bob")

    #expect(outcome.status == 1 && outcome.errors.contains("--account anna"))
    #expect(server.remote.documents(in: "a").count == 1)
  }

  @Test("a failure says what to do, and keeps edits")
  func failures() async throws {
    try await prepareTwo()
    try await save(#"[{"id": "tea", "litres": 2}]"#, in: "phone")

    let unknown = try await sync("phone", token: "another")
    let missing = try await sync("phone", "--collection", "itmes")
    server.remote.allow("me", reading: [], writing: [])
    let forbidden = try await sync("phone")

    #expect(unknown.status == 1 && unknown.errors.contains("give a token that the server knows"))
    #expect(rows(unknown) == ["pending 1"])
    #expect(missing.status == 1 && missing.errors.contains("did you mean `items`?"))
    #expect(forbidden.status == 1 && forbidden.errors.contains("Edits are kept"))
    #expect(try await run("pending", on: "phone").output.contains("items/tea"))
  }

  @Test("scopes may change, and collections must be named once")
  func order() async throws {
    try await save(#"[{"id": "milk", "litres": 1}]"#, in: "phone")
    let unnamed = try await sync("phone")
    try await sync("phone", "--collection", "items")
    try await save(#"[{"id": "milk", "litres": 2}]"#, in: "phone")
    let other = try await sync("phone", scopes: ["b"])
    let waiting = try server.number("litres", of: "milk")
    let swapped = try await sync("phone", scopes: ["b", "a"])

    #expect(unnamed.status == 1 && unnamed.errors.contains("the store has items"))
    #expect(other.status == 1 && rows(other).contains("pending 1"))
    #expect(waiting == 1)
    #expect(swapped.status == 0)
    #expect(try server.number("litres", of: "milk") == 2)
  }

  @Test("--watch sends each edit until Control-C, and says how it stands")
  func watch() async throws {
    try await save(#"[{"id": "milk", "litres": 1}]"#, in: "phone")
    let process = try larder.start(
      command("phone", ["--collection", "items", "--watch"]),
      environment: ["LARDER_TOKEN": "secret"])
    try process.input.close()
    while process.process.isRunning, try server.number("litres", of: "milk") != 1 {
      try await Task.sleep(for: .milliseconds(5))
    }
    try await save(#"[{"id": "milk", "litres": 2}]"#, in: "phone")
    while process.process.isRunning, try server.number("litres", of: "milk") != 2 {
      try await Task.sleep(for: .milliseconds(5))
    }
    // The server has it before its answer is here.
    while process.process.isRunning,
      try await run("pending", on: "phone").output != "nothing is pending\n"
    {
      try await Task.sleep(for: .milliseconds(5))
    }
    process.process.interrupt()
    while process.process.isRunning { try await Task.sleep(for: .milliseconds(5)) }

    let outcome = try process.wait()

    #expect(outcome.status == 0, "\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.first?.hasPrefix("in step") == true || lines.first?.hasPrefix("SYNC") == true)
    #expect(lines.contains { $0.contains(/^pushed +2/) })
  }
}
