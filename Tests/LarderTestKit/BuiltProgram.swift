import Foundation

/// A program that was built with the tests.
package enum BuiltProgram {
  package struct Missing: Error, CustomStringConvertible {
    package let description: String
  }

  /// The path of an executable beside the test program, or beside the bundle that it is in.
  package static func path(_ name: String) throws -> String {
    let tests = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let places =
      Bundle.allBundles.map(\.bundleURL)
      + (CommandLine.arguments + [tests].compactMap(\.self)).map { URL(filePath: $0) }
    for place in places {
      for folder in [place, place.deletingLastPathComponent()] {
        let path = folder.appending(path: name).path(percentEncoded: false)
        if FileManager.default.isExecutableFile(atPath: path) { return path }
      }
    }
    throw Missing(description: "`\(name)` is not beside the tests: build the package first")
  }
}
