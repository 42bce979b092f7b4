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
  ],
  dependencies: [
    // Named, so that the folder of a checkout may have any name.
    .package(name: "larder", path: "..")
  ],
  targets: [
    .target(name: "CBench", linkerSettings: [.linkedLibrary("lmdb"), .linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "Bench", dependencies: ["CBench", .product(name: "Larder", package: "larder")],
      exclude: ["FINDINGS.md"], swiftSettings: strict),
    .executableTarget(
      name: "Demo",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
