// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// A package of its own, so that nothing in here enters the graph of somebody who uses the library.
let package = Package(
  name: "larder-tools",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "bench", targets: ["Bench"]),
    .executable(name: "demo", targets: ["Demo"]),
    .executable(name: "bookshop", targets: ["BookshopApp"]),
    .executable(name: "stress", targets: ["Stress"]),
  ],
  dependencies: [
    // Named, so that the folder of a checkout may have any name.
    .package(name: "larder", path: "..")
  ],
  targets: [
    .target(name: "CBench", linkerSettings: [.linkedLibrary("lmdb"), .linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "Bench",
      dependencies: [
        "CBench", .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
        .product(name: "LarderRemote", package: "larder"),
        .product(name: "LarderSync", package: "larder"),
      ],
      // The peers of the import study are run or compiled when they are needed.
      exclude: ["FINDINGS.md", "Import/peer.cpp", "Import/peer.py"], swiftSettings: strict),
    .executableTarget(
      name: "Demo",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
      ],
      swiftSettings: strict),
    .target(name: "CStress", linkerSettings: [.linkedLibrary("lmdb")]),
    .executableTarget(
      name: "Stress",
      dependencies: [
        "CStress",
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
        .product(name: "LarderRemote", package: "larder"),
        .product(name: "LarderSync", package: "larder"),
      ],
      // Compiled when they are needed: two are loaded before the C library, one is a disk.
      exclude: ["Fault/fault.c", "FileSystem/disk.c", "Power/recorder.c"],
      swiftSettings: strict),
    .target(
      name: "Bookshop",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
        .product(name: "LarderRemote", package: "larder"),
        .product(name: "LarderSync", package: "larder"),
      ],
      // The diagrams, which the tests read.
      exclude: [
        "README.md", "Operation/Operation.md", "Router/Router.md", "Scenario/Scenario.md",
        "Service/Service.md",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "BookshopApp", dependencies: ["Bookshop"], swiftSettings: strict),
    .testTarget(
      name: "BookshopTests",
      dependencies: [
        "Bookshop", "BookshopApp",
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
        .product(name: "LarderRemote", package: "larder"),
        .product(name: "LarderSync", package: "larder"),
        .product(name: "LarderTesting", package: "larder"),
      ],
      exclude: ["App/in-terminal"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
