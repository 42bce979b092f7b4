// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The benchmark with GRDB as one engine more, against a checkout that LARDER_GRDB names:
// `Tools/bench --against grdb PATH`. Nothing else builds it, so that nobody needs GRDB.
guard let grdb = Context.environment["LARDER_GRDB"] else {
  fatalError("LARDER_GRDB has to name a checkout of GRDB 7, as Tools/bench --against grdb does")
}

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .define("PEERS"),
]

let package = Package(
  name: "larder-peers",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "bench-peers", targets: ["Peers"])],
  dependencies: [
    .package(name: "larder", path: "../.."), .package(name: "GRDB", path: grdb),
  ],
  targets: [
    .target(name: "CBench", linkerSettings: [.linkedLibrary("lmdb"), .linkedLibrary("sqlite3")]),
    // What Debian's SQLite lacks, and GRDB links to.
    .target(name: "CSnapshot", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "Peers",
      dependencies: [
        "CBench", "CSnapshot", .product(name: "GRDB", package: "GRDB"),
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
        .product(name: "LarderRemote", package: "larder"),
        .product(name: "LarderSync", package: "larder"),
      ],
      exclude: ["Bench/FINDINGS.md", "Bench/Import/peer.cpp", "Bench/Import/peer.py"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
