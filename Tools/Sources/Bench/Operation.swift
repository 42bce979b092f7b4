/// What engines are timed at. The raw value is its name on the command line and in reports.
///
/// Where nothing else is said an operation works on a store without indexes.
enum Operation: String, CaseIterable, Sendable {
  /// Save the whole workload into an empty store that has no index, as one durable batch. Time starts
  /// with the contacts in memory and ends when they are durable; creating the store is not in it.
  case bulkSave = "bulk-save-0-indexes"

  /// The same with an index over `city` and one over `order`.
  case bulkSaveIndexed = "bulk-save-2-indexes"

  /// Save the 10,000 contacts of ``Workload/batch`` over themselves, every other one changed, into
  /// the store with two indexes, as one batch. One index changes with it.
  case saveHalfChanged = "save-half-changed"

  /// Save the 10,000 contacts of ``Workload/batch`` over themselves, unchanged, as one batch.
  case saveUnchanged = "save-unchanged"

  /// Save the whole workload as domain models through a mapper, into an empty store, as one batch;
  /// without a mapper for comparison.
  case saveMapped = "save-mapped"

  /// The same in an order that is not that of the keys.
  case saveMappedShuffled = "save-mapped-shuffled"

  /// Save the 10,000 contacts of ``Workload/batch`` over themselves, unchanged, through a mapper;
  /// without one for comparison.
  case saveMappedUnchanged = "save-mapped-unchanged"

  /// Replace the contacts of one city by a page of which most are there already, in the store with
  /// two indexes.
  case replaceCity = "clear-before-save"

  /// Change contacts one by one, each durable before the next, in the store with two indexes.
  case writeSingly = "single-writes"

  /// Get and decode the 100,000 contacts of ``Workload/lookups``, one by one, and let go of each.
  case getByKey = "get-by-key"

  /// Decode all documents into one array. Letting go of it is not in the time.
  case scanDecoded = "scan-decoded"

  /// Decode the one contact in a hundred whose balance is low, by looking at all of them.
  case scanFiltered = "filtered-scan-1-percent"

  /// The same by the order, an integer.
  case scanFilteredByInteger = "filtered-scan-integer"

  /// The same by the city, a text; one contact in 200 is of it.
  case scanFilteredByText = "filtered-scan-text"

  /// Decode the contacts in whose name a text is that is not ASCII, by looking at all of them; it is one
  /// contact in 80.
  case textScan = "text-scan"

  /// Decode the 20 contacts whose names come first, which no index knows.
  case sortFirst = "sort-unindexed-top-20"

  /// Decode all contacts in the order of their names. Letting go of them is not in the time.
  case sortAll = "sort-unindexed-all"

  /// Sum up the order of all contacts, an integer that no index knows.
  case sum = "sum"

  /// The same for each city.
  case sumsByCity = "sums-by-city"

  /// Look for damage: everything that Larder checks, beside SQLite's `integrity_check`.
  case check = "check"

  /// Build an index over `order`, whose values are in no order, for documents that are there already.
  case indexBuild = "index-build"

  /// Decode the contacts of 20 cities by the index over `city`, one query each.
  case queryCity = "query-by-index"

  /// Of the same cities those whose order lies in a tenth of its range, by an index over both.
  case queryCompound = "compound-range"

  /// Decode the 20 contacts of the highest order by the index over `order`, 200 times.
  case topByOrder = "top-20-by-order"

  /// Count the contacts of 20 cities by the index over `city`, ten times.
  case countCity = "count-by-index"

  /// Count the contacts whose city begins with a letter by the index over `city`, ten times.
  case countPrefix = "count-prefix-by-index"

  /// The same by a range that has the same contacts.
  case countRange = "count-range-by-index"

  /// Open the store with two indexes and get one contact, 20 times; closing is not in the time.
  case open = "open"

  /// The bytes of the store with two indexes, after one bulk save.
  case fileSize = "file-size"

  /// The most that anonymous memory grows by in ``bulkSaveIndexed``.
  case memoryOfSave = "memory-of-bulk-save"

  /// The most that anonymous memory grows by in ``scanFiltered``.
  case memoryOfScan = "memory-of-filtered-scan"

  /// The most that anonymous memory grows by in ``saveMapped``.
  case memoryOfMappedSave = "memory-of-mapped-save"

  /// The most that anonymous memory grows by in ``saveMappedShuffled``.
  case memoryOfMappedShuffled = "memory-of-mapped-save-shuffled"

  var unit: Measurement.Unit {
    switch self {
    case .fileSize, .memoryOfSave, .memoryOfScan, .memoryOfMappedSave, .memoryOfMappedShuffled:
      .bytes
    default: .seconds
    }
  }

  /// How many documents one run handles, for the measure of one; queries count the ones they find,
  /// and opening counts the times.
  func documents(in workload: Workload) -> Int {
    switch self {
    case .bulkSave, .bulkSaveIndexed, .scanDecoded, .scanFiltered, .scanFilteredByInteger,
      .scanFilteredByText, .textScan, .sortFirst, .sortAll, .sum, .sumsByCity, .check, .indexBuild,
      .fileSize,
      .memoryOfSave, .memoryOfScan, .saveMapped, .saveMappedShuffled, .memoryOfMappedSave,
      .memoryOfMappedShuffled:
      workload.count
    case .getByKey: workload.lookups.count
    case .saveUnchanged, .saveHalfChanged, .saveMappedUnchanged: workload.batch.count
    case .replaceCity: workload.laterPage.count
    case .writeSingly: 2 * Workload.singleCount
    case .queryCity: Int(workload.expectedCounts) / Workload.countRepetitions
    case .queryCompound: Int(workload.expectedCounts) / Workload.countRepetitions / 10
    case .topByOrder: Workload.topCount * Workload.topRepetitions
    case .countCity: Int(workload.expectedCounts)
    case .countPrefix, .countRange: Int(workload.expectedPrefixCount)
    case .open: Workload.openCount
    }
  }

  /// What ``Sample/checksum`` must be.
  ///
  /// Where documents are read, it is of the ones that were read: the sum of their glances, or of
  /// their digests for ``scanDecoded``. Where they are written, it is the sum of the digests of
  /// everything in the store afterwards, read outside the time. A file has none.
  func expectedChecksum(in workload: Workload) -> UInt64 {
    switch self {
    case .getByKey: workload.expectedLookups
    case .bulkSave, .bulkSaveIndexed, .memoryOfSave, .scanDecoded, .sortAll, .saveUnchanged,
      .writeSingly,
      .saveMapped, .saveMappedShuffled, .saveMappedUnchanged, .memoryOfMappedSave,
      .memoryOfMappedShuffled:
      workload.expectedAll
    case .saveHalfChanged: workload.expectedAfterHalf
    case .replaceCity: workload.expectedAfterReplace
    case .scanFiltered, .memoryOfScan: workload.expectedFiltered
    case .scanFilteredByInteger: workload.expectedFilteredByInteger
    case .scanFilteredByText: workload.expectedFilteredByText
    case .textScan: workload.expectedFilteredByName
    case .sortFirst: workload.expectedFirstNames
    case .sum: workload.expectedSum
    case .sumsByCity: workload.expectedSumsByCity
    case .check, .indexBuild: UInt64(workload.count)
    case .queryCity: workload.expectedCities
    case .queryCompound: workload.expectedCompound
    case .topByOrder: workload.expectedTop
    case .countCity: workload.expectedCounts
    case .countPrefix, .countRange: workload.expectedPrefixCount
    case .open: workload.expectedFirstLookup
    case .fileSize: 0
    }
  }
}
