import Foundation
import Larder
import LarderImport

/// Something is not as it must be.
struct DemoFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension Demo {
  static func heading(_ text: String) {
    print("\n\(text)\n" + String(repeating: "-", count: text.count))
  }

  static func expect(_ condition: Bool, _ fact: String) throws {
    if !condition { throw DemoFailure("this is not so: \(fact)") }
  }

  /// Aligned columns; a number of characters is good enough for names in Latin letters.
  static func table(_ titles: [String], _ rows: [[String]]) {
    let widths = titles.indices.map { column in
      ([titles] + rows).map { $0[column].count }.max() ?? 0
    }
    for row in [titles] + rows {
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      print("  " + cells.joined(separator: "  "))
    }
  }

  /// Runs a save and prints what it did, how long it took and how much memory it needed.
  static func measured(_ what: String, _ save: () async throws -> SaveReport) async throws {
    let memory = MemoryPeak()
    let clock = ContinuousClock()
    let start = clock.now
    let report = try await save()
    let duration = clock.now - start
    let label = what.padding(toLength: 18, withPad: " ", startingAt: 0)
    print(
      "\(label) \(milliseconds(duration)), memory +\(megabytes(memory.growth)): "
        + "\(report)")
  }

  static func showStatistics(_ store: Store) throws {
    heading("Statistics")
    let statistics = try store.statistics()
    table(
      ["collection", "documents", "bytes", "depth"],
      statistics.collections.map {
        [$0.name, $0.documentCount.formatted(), megabytes($0.byteCount), "\($0.depth)"]
      })
    print(
      "  file \(megabytes(statistics.fileByteCount)), free \(megabytes(statistics.freeByteCount)), "
        + "\(statistics.sequence.formatted()) changes")
  }

  /// Only where somebody looks: a pipe gets no progress.
  static func showProgress(_ progress: StoreProgress) {
    guard isatty(STDERR_FILENO) == 1, let fraction = progress.fraction else { return }
    let percent = String(format: "%3.0f %%", fraction * 100)
    FileHandle.standardError.write(Data("\r\(percent)\(fraction >= 1 ? "\r     \r" : "")".utf8))
  }

  static func milliseconds(_ duration: Duration) -> String {
    String(format: "%.0f ms", duration / .milliseconds(1))
  }

  static func rate(_ byteCount: Int, _ duration: Duration) -> String {
    String(format: "%.1f MB/s", Double(byteCount) / 1e6 / (duration / .seconds(1)))
  }

  static func megabytes(_ byteCount: Int) -> String {
    String(format: "%.1f MB", Double(byteCount) / 1e6)
  }
}

extension Seller {
  /// A contact that is the same in every run.
  static func example(_ number: Int) -> Seller {
    let cities = ["Oslo", "Bergen", "Tromsø", "Århus", "Malmö", "Reykjavík"]
    let digits = String(number)
    let id = "example-" + String(repeating: "0", count: 8 - digits.count) + digits
    let place = Place(latitude: 59.9, longitude: 10.7, label: nil)
    return Seller(
      id: id, name: "Seller \(number)", phone: "+47 \(22_000_000 + number)",
      address: "Storgata \(number % 300)", city: cities[number % cities.count], country: "NO",
      order: number % 100, balance: Double(number) * 1.25,
      updatedAt: Date(timeIntervalSinceReferenceDate: Double(number) * 60),
      tags: number % 3 == 0 ? ["new"] : ["vip", "north"],
      place: number % 2 == 0 ? place : nil, note: nil)
  }
}
