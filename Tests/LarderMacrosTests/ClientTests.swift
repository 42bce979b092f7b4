import Foundation
import Testing

/// `Tests/Client`, a package of somebody else: an older version of the tools, no flags.
@Suite struct ClientTests {
  @Test(
    "a package with an older version of the tools and no flags builds and runs",
    .timeLimit(.minutes(20)))
  func client() throws {
    // A folder of its own: the package's own one is locked while its tests run. It stays, so that
    // only what changed is built again.
    let scratch = BuildFolder.root.appending(path: ".build/client").path(percentEncoded: false)
    let package = BuildFolder.root.appending(path: "Tests/Client").path(percentEncoded: false)
    let arguments = ["--package-path", package, "--scratch-path", scratch]

    let build = try output(of: ["swift", "build"] + arguments)
    #expect(build.status == 0, "\(build.text)")
    #expect(!build.text.contains("warning:"), "\(build.text)")

    let run = try output(of: ["\(scratch)/debug/Client"])
    #expect(
      run.text == """
        3 inserted, 0 updated, 0 unchanged, 0 deleted
        ["Bjørn", "Åse"]
        2
        ["a"]
        ["Cecilie", "Bjørn", "Åse"]
        22 33 44 55

        """)
    #expect(run.status == 0)
  }

  private func output(of arguments: [String]) throws -> (status: Int32, text: String) {
    let file = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID())")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }  // The system cleans up what stays.
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let output = try FileHandle(forWritingTo: file)
    process.standardOutput = output
    process.standardError = output
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, try String(contentsOf: file, encoding: .utf8))
  }
}
