/// What engines are timed at. The raw value is its name on the command line and in reports.
enum Operation: String, CaseIterable, Sendable {
  /// Save the whole workload into an empty store that has no index, as one durable batch. Time starts
  /// with the contacts in memory and ends when they are durable; creating the store is not in it.
  case bulkSave = "bulk-save-0-indexes"

  /// Get and decode the 100,000 contacts of ``Workload/lookups``, one by one, and let go of each.
  case getByKey = "get-by-key"

  /// Decode all documents into one array. Letting go of it is not in the time.
  case scanDecoded = "scan-decoded"

  /// Save the 10,000 contacts of ``Workload/batch`` over themselves, unchanged, as one batch.
  case saveUnchanged = "save-unchanged"

  /// How many documents one run handles, for the time of one.
  func documents(in workload: Workload) -> Int {
    switch self {
    case .bulkSave, .scanDecoded: workload.count
    case .getByKey: workload.lookups.count
    case .saveUnchanged: workload.batch.count
    }
  }

  /// What ``Sample/checksum`` must be.
  ///
  /// Where documents are read, it is of the ones that were read: the sum of their glances for
  /// ``getByKey``, of their digests for ``scanDecoded``. Where they are written, it is the sum of
  /// the digests of everything in the store afterwards, read outside the time.
  func expectedChecksum(in workload: Workload) -> UInt64 {
    switch self {
    case .getByKey: workload.expectedLookups
    case .bulkSave, .scanDecoded, .saveUnchanged: workload.expectedAll
    }
  }
}
