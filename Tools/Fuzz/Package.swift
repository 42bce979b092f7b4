// swift-tools-version: 6.2
import PackageDescription

// Apart from the other tools: all of it, the library too, is built with libFuzzer and the address
// sanitizer, which `Tools/fuzz` asks the compiler for. Without them it does not link.
let package = Package(
  name: "larder-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "larder", path: "../..")
  ],
  targets: [
    .systemLibrary(name: "CFuzzer"),
    // The files under Models are links to those of the tests.
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "CFuzzer", .product(name: "Larder", package: "larder"),
        .product(name: "LarderImport", package: "larder"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
