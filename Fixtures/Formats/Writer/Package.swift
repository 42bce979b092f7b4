// swift-tools-version: 6.2
import PackageDescription

// What `Fixtures/make-formats` runs: writes the stores that stand beside this folder.
let package = Package(
  name: "formats-writer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "../../..")],
  targets: [
    .executableTarget(name: "Writer", dependencies: [.product(name: "Larder", package: "larder")])
  ],
  swiftLanguageModes: [.v6]
)
