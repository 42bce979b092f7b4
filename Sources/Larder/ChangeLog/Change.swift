/// What became of one document.
enum ChangeKind: UInt8, Sendable, Equatable {
  case inserted = 1
  case updated = 2
  case deleted = 3
  /// Every document of the collection is gone; one change, whatever their number.
  case erased = 4
  /// Something has changed in a collection without a log.
  case unlogged = 5
}

/// One change as the log lends it; its bytes live as long as the snapshot that reads them.
struct LoggedChange {
  let sequence: UInt64
  let kind: ChangeKind
  /// The document's encoded key; empty for an erasure, and where nothing is logged.
  let key: UnsafeRawBufferPointer
  /// The record before the change, with its checksum; empty for an insertion and an erasure, and for
  /// a deletion that had no room for it.
  let old: UnsafeRawBufferPointer
}

/// What the changes of one pack have in common.
struct ChangePackHeader: Equatable {
  let collection: String
  let origin: ChangeOrigin
  /// Which opening of the store wrote it, so that a reader knows its own changes.
  let writer: UInt32
  /// Seconds since the reference date, by the clock of the device.
  let time: Double
  let firstSequence: UInt64
  let count: Int

  var lastSequence: UInt64 { firstSequence + UInt64(count) - 1 }
}
