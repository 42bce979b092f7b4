// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// Where headers lie in a place of their own. Elsewhere SwiftPM would ask pkg-config, and warn whoever
// links the libraries that zstd is missing, which they do not need.
#if os(macOS)
  let zstdPackage: String? = "libzstd"
#else
  let zstdPackage: String? = nil
#endif

// Where LMDB comes from: the system's liblmdb on Linux, and on a Mac, where apps for all of Apple's
// systems are built, a package that carries LMDB's source, as iOS has no liblmdb. `LARDER_LMDB` chooses
// otherwise, on any host: `system`, `package`, or the path of a package that `Tools/vendor-lmdb` made.
#if os(macOS)
  let lmdbChoice = Context.environment["LARDER_LMDB"] ?? "package"
#else
  let lmdbChoice = Context.environment["LARDER_LMDB"] ?? "system"
#endif
let lmdbPackages: [Package.Dependency]
let lmdbTarget: Target
if lmdbChoice == "system" {
  lmdbPackages = []
  // LMDB's header and nothing else.
  lmdbTarget = .systemLibrary(
    name: "CLarderLMDB", pkgConfig: "lmdb",
    providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])])
} else {
  lmdbPackages = [
    lmdbChoice == "package"
      ? .package(url: "https://github.com/agisboye/CLMDB.git", exact: "0.9.33")
      : .package(name: "CLMDB", path: lmdbChoice)
  ]
  // The same module name, so that no other target knows of the choice.
  lmdbTarget = .target(
    name: "CLarderLMDB", dependencies: [.product(name: "LMDB", package: "CLMDB")],
    path: "Sources/CLarderLMDBPackage")
}

// What App Store Connect asks of libraries that look at times of files and room on disks. Elsewhere a bundle would be
// built for it.
#if os(macOS)
  let privacy: (resources: [Resource]?, excluded: [String]) = (
    [.copy("PrivacyInfo.xcprivacy")], []
  )
#else
  let privacy: (resources: [Resource]?, excluded: [String]) = (nil, ["PrivacyInfo.xcprivacy"])
#endif

let package = Package(
  name: "larder",
  // Typed throws in closures, noncopyable generics and `Duration` need these. Not watchOS: most watches have addresses
  // of 32 bits.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    // What the services of an app may know: a protocol, without the store behind it.
    .library(name: "LarderModels", targets: ["LarderModels"]),
    .library(name: "LarderSync", targets: ["LarderSync"]),
    .library(name: "LarderImport", targets: ["LarderImport"]),
    // Edits that were made offline go to a server, and its own come back.
    .library(name: "LarderRemote", targets: ["LarderRemote"]),
    .library(name: "LarderTesting", targets: ["LarderTesting"]),
    .executable(name: "larder", targets: ["LarderCLI"]),
  ],
  dependencies: lmdbPackages,
  targets: [
    lmdbTarget,
    .target(
      name: "LarderLMDB", dependencies: ["CLarderLMDB"], exclude: privacy.excluded,
      resources: privacy.resources, swiftSettings: strict),
    // The plugin speaks the compiler's protocol itself: no swift-syntax to download and build.
    .target(name: "LarderScanner", swiftSettings: strict),
    .macro(name: "LarderMacros", dependencies: ["LarderScanner"], swiftSettings: strict),
    .target(name: "LarderModels", swiftSettings: strict),
    .target(
      name: "Larder", dependencies: ["LarderLMDB", "LarderMacros", "LarderModels"],
      swiftSettings: strict),
    // Of LarderLMDB only its lock.
    .target(name: "LarderSync", dependencies: ["Larder", "LarderLMDB"], swiftSettings: strict),
    .target(name: "LarderImport", dependencies: ["Larder"], swiftSettings: strict),
    // Of LarderImport its reader of JSON. Apart from LarderSync, so that whoever only reads from a server
    // need not compile an engine.
    .target(
      name: "LarderRemote", dependencies: ["Larder", "LarderImport", "LarderLMDB", "LarderSync"],
      swiftSettings: strict),
    .target(
      name: "LarderTesting", dependencies: ["Larder", "LarderLMDB", "LarderRemote", "LarderSync"],
      swiftSettings: strict),
    // Only the command reads compressed files. Whoever links the libraries needs neither zlib nor zstd:
    // SwiftPM compiles of a dependency what the products need that are asked for.
    .systemLibrary(
      name: "CLarderZlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .systemLibrary(
      name: "CLarderZstd", pkgConfig: zstdPackage,
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    .target(
      name: "LarderCompression", dependencies: ["LarderImport", "CLarderZlib", "CLarderZstd"],
      swiftSettings: strict),
    .executableTarget(
      name: "LarderCLI",
      dependencies: [
        "Larder", "LarderCompression", "LarderImport", "LarderLMDB", "LarderRemote", "LarderSync",
      ],
      swiftSettings: strict),
    // What the tests share: random numbers, folders, threads, other processes.
    .target(
      name: "LarderTestKit", dependencies: ["LarderLMDB"], path: "Tests/LarderTestKit",
      swiftSettings: strict),
    .testTarget(
      name: "LarderLMDBTests", dependencies: ["LarderLMDB", "LarderTestKit"],
      swiftSettings: strict),
    .testTarget(
      name: "LarderScannerTests", dependencies: ["LarderScanner", "LarderTestKit"],
      swiftSettings: strict),
    // Not on LarderMacros itself: SwiftPM then builds everything a second time, as tools. The plugin
    // is built with Larder, and run as the compiler runs it.
    .testTarget(
      name: "LarderMacrosTests",
      dependencies: [
        "Larder", "LarderImport", "LarderRemote", "LarderSync", "LarderTestKit", "LarderTesting",
      ],
      exclude: ["Sources"], swiftSettings: strict),
    .testTarget(
      name: "LarderTests",
      dependencies: [
        "Larder", "LarderLMDB", "LarderModels", "LarderTestKit", "LarderTesting",
        "LarderTestProcess",
      ],
      swiftSettings: strict),
    // The other process of the tests with several.
    .executableTarget(
      name: "LarderTestProcess",
      dependencies: ["Larder", "LarderLMDB", "LarderSync", "LarderTesting"],
      path: "Tests/LarderTestProcess",
      swiftSettings: strict),
    .testTarget(
      name: "LarderSyncTests",
      dependencies: [
        "Larder", "LarderLMDB", "LarderSync", "LarderTestKit", "LarderTestProcess",
        "LarderTesting",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LarderRemoteTests",
      dependencies: [
        "Larder", "LarderImport", "LarderLMDB", "LarderRemote", "LarderSync", "LarderTestKit",
        "LarderTesting",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LarderImportTests",
      dependencies: ["Larder", "LarderImport", "LarderLMDB", "LarderTestKit", "LarderTesting"],
      swiftSettings: strict),
    .testTarget(
      name: "LarderCLITests",
      dependencies: [
        "CLarderZlib", "CLarderZstd", "Larder", "LarderCLI", "LarderCompression", "LarderImport",
        "LarderLMDB", "LarderRemote", "LarderSync", "LarderTestKit", "LarderTesting",
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// Under a sanitizer building takes longer than the tests do, so that `Tools/sanitize` builds what it
// runs and no more: the layer over LMDB, and of the tests of the library these files.
if let sanitizer = Context.environment["LARDER_SANITIZER"] {
  let shared = [
    "Store", "Index/Parcel.swift", "Maintenance/Migration/Migrating.swift",
    "Models/ConformanceSamples.swift", "Models/Contact.swift",
    "Models/Everything.swift", "Models/Node.swift",
  ]
  let concurrent = [
    "Index/IndexRunTests.swift", "Processes/SharedStoreTests.swift",
    "Processes/WatchedStoreTests.swift",
    "Query/Condition+Operators.swift", "Query/Condition.swift", "Query/Ordering+Fields.swift",
    "Query/Ordering.swift", "Query/Specimen+Random.swift", "Query/Specimen.swift",
    "Query/TextOracle.swift", "Read/ParallelReadTests.swift", "Read/ParallelWorkTests.swift",
    "Search/SearchedNotes.swift",
    "Watch/WatchTests.swift",
  ]
  let record = ["Models/EarlierEverything.swift", "Models/One.swift", "Record"]
  let layer = ["CLarderLMDB", "LarderLMDB", "LarderTestKit", "LarderLMDBTests"]
  let all = [
    "CLarderLMDB", "LarderLMDB", "LarderScanner", "LarderMacros", "LarderModels", "Larder",
    "LarderImport", "LarderSync", "LarderRemote", "LarderTesting", "LarderTestKit",
    "LarderLMDBTests", "LarderTestProcess", "LarderTests",
  ]
  let targets =
    switch sanitizer {
    case "address-lmdb": layer
    case "thread": all + ["LarderImportTests"]
    default: all
    }
  package.targets.removeAll { !targets.contains($0.name) }
  package.products.removeAll { _ in true }
  package.targets.first { $0.name == "LarderTests" }?.sources =
    shared + (sanitizer == "thread" ? concurrent : record)
  package.targets.first { $0.name == "LarderImportTests" }?.sources = [
    "ImportPartsTests.swift", "Support/Fixtures.swift", "Support/Stores.swift",
  ]
}

// `Tools/test` has the libraries optimized, with the checks of debug builds left in, and the tests as they
// are: optimizing those would take longer than they run. SwiftPM refuses these flags to dependencies, so that
// nobody else gets them.
if Context.environment["LARDER_OPTIMIZED"] != nil {
  let optimized = [
    "LarderLMDB", "Larder", "LarderSync", "LarderImport", "LarderRemote", "LarderTesting",
  ]
  for target in package.targets where optimized.contains(target.name) {
    target.swiftSettings =
      strict + [.unsafeFlags(["-O", "-assert-config", "Debug", "-wmo", "-num-threads", "2"])]
  }
}
