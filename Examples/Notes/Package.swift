// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "notes",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "../..")],
  targets: [
    .executableTarget(name: "notes", dependencies: [.product(name: "Larder", package: "larder")])
  ]
)
