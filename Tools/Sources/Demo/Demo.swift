import Foundation
import Larder
import LarderImport

/// `demo FIXTURES STORE [CITIES]`: the way of data through Larder, told as it goes.
@main
struct Demo {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      guard arguments.count >= 2 else {
        throw DemoFailure("usage: demo FIXTURES STORE [CITIES]")
      }
      let store = try Store(at: arguments[1])
      try await showSellers(store, fixtures: arguments[0])
      try await showTenThousand(store)
      if arguments.count > 2 { try await showCities(store, file: arguments[2]) }
      try showStatistics(store)
      try check(store)
    } catch {
      FileHandle.standardError.write(Data("demo: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func showSellers(_ store: Store, fixtures: String) async throws {
    heading("Sellers' contacts: a fixture, typed")
    let file = ImportSource.file(fixtures + "/contacts.json")
    let first = try store.importDocuments(from: file, into: Seller.self)
    print("imported      \(first.saved)")
    let again = try store.importDocuments(from: file, into: Seller.self)
    print("imported again \(again.saved)")
    try expect(again.saved.unchanged == again.documentCount, "an import again changes nothing")

    let sellers = store.repository(of: Seller.self)
    let vips = Seller.where { $0.tags.contains("vip") && $0.isActive }
      .sorted(by: \.balance, .reverse).limit(5)
    print("\n\(vips)")
    table(
      ["name", "city", "balance"],
      try sellers.fetch(vips).map { [$0.name, $0.city, String(format: "%.2f", $0.balance)] })
  }

  private static func showTenThousand(_ store: Store) async throws {
    heading("10,000 contacts: saved, saved again, half of them changed")
    let sellers = store.repository(of: Seller.self)
    var contacts = (0..<10_000).map(Seller.example)
    try await measured("once") { try await sellers.save(contacts) }
    try await measured("again, unchanged") { try await sellers.save(contacts) }
    for index in stride(from: 0, to: contacts.count, by: 2) { contacts[index].order += 1 }
    let changed = contacts
    try await measured("half changed") { try await sellers.save(changed) }
  }

  private static func showCities(_ store: Store, file: String) async throws {
    heading("Cities of the world: real data")
    let source = ImportSource.file(file)
    let memory = MemoryPeak()
    let first = try store.importDocuments(from: source, into: City.self, progress: showProgress)
    print(
      "imported      \(first.saved) in \(milliseconds(first.duration)), "
        + "\(megabytes(first.byteCount)) of JSON at \(rate(first.byteCount, first.duration)), "
        + "memory +\(megabytes(memory.growth))"
    )
    let sequence = try store.statistics().sequence
    let again = try store.importDocuments(from: source, into: City.self)
    print(
      "imported again \(again.saved) in \(milliseconds(again.duration)), "
        + rate(again.byteCount, again.duration))
    try expect(try store.statistics().sequence == sequence, "an import again writes nothing")

    let cities = store.repository(of: City.self)
    let norway = City.where { $0.country == "NO" }
    var kept = try cities.fetch(norway.sorted(by: \.population, .reverse).limit(10))
    kept[0].otherNames.append("Tigerstaden")
    let replaced = try await cities.save(kept, clearBeforeSaving: norway)
    print("\nNorway's ten largest, one with a new name, clear-before-save: \(replaced)")
    try expect(try cities.count(norway) == kept.count, "only the ten are left")

    let query = City.where { $0.country == "NO" || $0.country == "DK" || $0.country == "SE" }
      .sorted(by: \.population, .reverse).limit(8)
    print("\n\(query)")
    table(
      ["city", "country", "people", "place"],
      try cities.fetch(query).map {
        [
          $0.name, $0.country, $0.population.formatted(),
          String(format: "%.2f, %.2f", $0.latitude, $0.longitude),
        ]
      })
  }

  private static func check(_ store: Store) throws {
    heading("Check")
    let report = try store.check()
    for problem in report.problems { print(problem) }
    try expect(report.isSound, "the store is sound")
    print("\(report.documentCount.formatted()) documents read, every checksum holds.")
    try store.close()
  }
}
