import CBench
import Foundation

/// The contacts of one run, in order of arrival: the same ones for the same count and keys.
///
/// A class, because it owns memory of the C half.
final class Workload {
  /// How ids relate to the order of arrival.
  enum Keys: String, CaseIterable {
    case ordered, shuffled, random

    var raw: bench_keys {
      switch self {
      case .ordered: BENCH_KEYS_ORDERED
      case .shuffled: BENCH_KEYS_SHUFFLED
      case .random: BENCH_KEYS_RANDOM
      }
    }
  }

  /// Lent to the C half; lives as long as the workload.
  let raw: UnsafeMutablePointer<bench_workload>
  let count: Int

  /// All contacts as Swift structs, in order of arrival. Made when first asked for.
  private(set) lazy var contacts: [Contact] = (0..<count).map { Contact(raw.pointee.contacts[$0]) }

  /// All contacts in another order.
  private(set) lazy var shuffled: [Contact] = {
    // Coprime to any scale, which is a power of ten.
    (0..<count).map { contacts[$0 * 7_919 % count] }
  }()

  /// The indexes of the contacts that `get-by-key` asks for.
  private(set) lazy var lookups: [Int] = (0..<Int(BENCH_LOOKUP_COUNT)).map {
    bench_lookup_index(raw, $0)
  }

  /// The indexes of the contacts that make up a batch.
  private(set) lazy var batch: [Int] = (0..<bench_batch_count(raw)).map {
    bench_batch_index(raw, $0)
  }

  /// The contacts of one city as they are, and as a server may send them later; lent by the C half
  /// as the batches are.
  private(set) lazy var page = page(later: false)
  private(set) lazy var laterPage = page(later: true)

  /// The contacts of a batch, as from a server's answer. Made before anything else is: behind a
  /// million contacts that came and went their strings would stand all over the memory, and C has its
  /// contacts in one place.
  private(set) lazy var unchanged: [Contact] = batch.map { Contact(raw.pointee.contacts[$0]) }

  /// A batch of which half is changed.
  private(set) lazy var halfChanged: [Contact] = (0..<batch.count).map { position in
    var raw = bench_contact()
    bench_batch_half_changed(self.raw, position, &raw)
    return Contact(raw)
  }

  /// The cities that queries ask for; a page is of the first.
  private(set) lazy var cities: [String] = (0..<Int(BENCH_QUERY_COUNT)).map { position in
    String(
      unsafeUninitializedCapacity: 32,
      initializingUTF8With: { bench_city_name(bench_query_city(position), $0.baseAddress) })
  }

  static let singleCount = Int(BENCH_SINGLE_COUNT)
  static let countRepetitions = Int(BENCH_COUNT_REPETITIONS)
  static let topCount = Int(BENCH_TOP_COUNT)
  static let topRepetitions = Int(BENCH_TOP_REPETITIONS)
  static let openCount = Int(BENCH_OPEN_COUNT)
  static let balanceLimit = Double(BENCH_BALANCE_LIMIT)
  static let orderLimit = BENCH_ORDER_LIMIT
  static let orders = BENCH_ORDER_START..<BENCH_ORDER_END

  private func page(later: Bool) -> [Contact] {
    var count = 0
    let page = bench_page_make(raw, later, &count)
    defer { free(page) }
    return UnsafeBufferPointer(start: page, count: count).map { Contact($0) }
  }

  // What checksums must be; each is worked out when first asked for.
  private(set) lazy var expectedAll = bench_expected_all(raw)
  private(set) lazy var expectedLookups = bench_expected_lookups(raw)
  private(set) lazy var expectedCities = bench_expected_cities(raw)
  private(set) lazy var expectedTop = bench_expected_top(raw)
  private(set) lazy var expectedFiltered = bench_expected_filtered(raw, BENCH_BALANCE_BELOW)
  private(set) lazy var expectedFilteredByInteger = bench_expected_filtered(raw, BENCH_ORDER_BELOW)
  private(set) lazy var expectedFilteredByText = bench_expected_filtered(raw, BENCH_CITY_EQUAL)
  private(set) lazy var expectedFilteredByName = bench_expected_filtered(raw, BENCH_NAME_HAS)
  private(set) lazy var expectedFirstNames = bench_expected_first_names(raw)
  private(set) lazy var expectedSum = UInt64(
    bitPattern: contacts.reduce(0) { $0 + Int64($1.order) })
  private(set) lazy var expectedSumsByCity =
    Dictionary(grouping: contacts) { $0.city }.values.reduce(0) { checksum, contacts in
      checksum &+ Self.square(contacts.reduce(0) { $0 + Int64($1.order) })
    }
  private(set) lazy var expectedPrefixCount = bench_expected_prefix_count(raw)
  private(set) lazy var expectedCompound = bench_expected_compound(raw)
  private(set) lazy var expectedCounts = bench_expected_counts(raw)
  private(set) lazy var expectedAfterHalf = bench_expected_after_half(raw)
  private(set) lazy var expectedAfterReplace = bench_expected_after_replace(raw)
  private(set) lazy var expectedFirstLookup = bench_contact_glance(
    raw.pointee.contacts + bench_lookup_index(raw, 0))
  private(set) lazy var expectedAfterUpdate = bench_expected_after_update(raw)
  private(set) lazy var expectedAfterUpsert = bench_expected_after_upsert(raw)
  private(set) lazy var expectedAfterDelete = bench_expected_after_delete(raw)

  /// What a city adds to the checksum of sums: whatever their order, and different for different sums.
  static func square(_ sum: Int64) -> UInt64 {
    let sum = UInt64(bitPattern: sum)
    return sum &* sum
  }

  init(count: Int, keys: Keys, seed: UInt64 = 7) {
    self.count = count
    raw = bench_workload_create(count, keys.raw, seed)
    _ = (unchanged, halfChanged, page, laterPage)
  }

  deinit {
    bench_workload_destroy(raw)
  }

  /// Compares the first contacts as Swift reads them with the C half's own reading.
  ///
  /// - Throws: ``WrongResult`` if they differ.
  func check() throws {
    for index in 0..<min(count, 1_000) {
      var raw = raw.pointee.contacts[index]
      let contact = Contact(raw)
      guard contact.digest == bench_contact_digest(&raw),
        contact.glance == bench_contact_glance(&raw)
      else { throw WrongResult(description: "contact \(index) differs between C and Swift") }
    }
  }
}
