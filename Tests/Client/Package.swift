// swift-tools-version: 5.10
import PackageDescription

// Somebody else's program: an older version of the tools, the Swift 5 language, no flags. Built
// and run by `Tools/client`.
let package = Package(
  name: "client",
  platforms: [.macOS("15.0")],
  dependencies: [.package(name: "larder", path: "../..")],
  targets: [
    .executableTarget(name: "Client", dependencies: [.product(name: "Larder", package: "larder")])
  ]
)
