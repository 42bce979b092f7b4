// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "reading-list",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "ReadingList", targets: ["ReadingList"])],
  dependencies: [.package(name: "larder", path: "../..")],
  targets: [
    .target(
      name: "ReadingList",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderSync", package: "larder"),
      ]),
    .testTarget(
      name: "ReadingListTests",
      dependencies: ["ReadingList", .product(name: "LarderTesting", package: "larder")]),
  ]
)
