// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "job-queue",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "../..")],
  targets: [
    .executableTarget(name: "queue", dependencies: [.product(name: "Larder", package: "larder")])
  ]
)
