internal import LarderLMDB

/// Where a collection, or the whole store, stands with its migrations. `Layout` draws its bytes.
struct MigrationState: Equatable, Sendable {
  /// The version that all documents have; 1 until something was migrated.
  var version = 1
  /// The version that some documents have already; nil when all are of one.
  var target: Int?
  /// The last document that was looked at.
  var lastKey: [UInt8]?
  /// Documents that were migrated to the target.
  var doneCount = 0
  /// Documents when the migration began.
  var totalCount = 0

  /// Whose state it is.
  enum Subject: Hashable, Sendable {
    case collection(String)
    case store

    /// Nil where the key is none.
    init?(key: UnsafeRawBufferPointer) {
      if key.elementsEqual([0]) {
        self = .store
      } else {
        guard let name = String(validating: key, as: UTF8.self) else { return nil }
        self = .collection(name)
      }
    }

    /// No collection can have a name with a control character.
    var key: [UInt8] {
      switch self {
      case .collection(let name): Array(name.utf8)
      case .store: [0]
      }
    }

    var name: String {
      switch self {
      case .collection(let name): name
      case .store: "the store"
      }
    }
  }
}

extension MigrationState {
  private static let format: Int64 = 1

  func encoded(for subject: Subject) -> [UInt8] {
    var writer = RecordWriter(binding: .none)
    writer.putArray(count: 6)
    writer.put(Self.format)
    writer.put(Int64(version))
    target._store(into: &writer)
    if let lastKey { lastKey.withUnsafeBytes { writer.put($0) } } else { writer.putNil() }
    writer.put(Int64(doneCount))
    writer.put(Int64(totalCount))
    let hash = writer.withBytes { Checksum.hash($0, seed: Self.seed(subject)) }
    writer.appendInteger(hash.littleEndian)
    return writer.withBytes { [UInt8]($0) }
  }

  /// - Throws: ``StoreError/damagedCatalogue(_:)``.
  init(_ bytes: UnsafeRawBufferPointer, of subject: Subject) throws(StoreError) {
    do {
      let count = bytes.count - RecordFormat.checksumByteCount
      guard count > 0, let start = bytes.baseAddress else { throw RecordError.truncated }
      let body = UnsafeRawBufferPointer(rebasing: bytes[..<count])
      let stored = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: count, as: UInt64.self))
      guard Checksum.hash(body, seed: Self.seed(subject)) == stored else {
        throw RecordError.checksum
      }
      var reader = ValueReader(start, start + count, binding: .none, depth: 0)
      let elements = try reader.arrayCount()
      let format = try reader.int64()
      guard elements == 6, format == Self.format else {
        throw RecordError.invalid("format \(format) is unknown")
      }
      version = try Int._load(from: &reader)
      target = try Int?._load(from: &reader)
      lastKey = reader.skipNil() ? nil : [UInt8](try reader.bytes())
      doneCount = try Int._load(from: &reader)
      totalCount = try Int._load(from: &reader)
    } catch {
      throw .damagedCatalogue("where the migration of \(subject.name) stands: \(error)")
    }
  }

  private static func seed(_ subject: Subject) -> UInt64 {
    subject.key.withUnsafeBytes { Checksum.hash($0, seed: 0) }
  }
}

extension Transaction where Self: ~Copyable {
  /// Where `subject` stands; `migrations` is nil in a store where nothing was migrated.
  borrowing func migrationState(
    of subject: MigrationState.Subject, in migrations: Database?
  ) throws -> MigrationState {
    guard let migrations else { return MigrationState() }
    let state = try subject.key.withUnsafeBytes { key in
      try withValue(for: key, in: migrations) { try MigrationState($0, of: subject) }
    }
    return state ?? MigrationState()
  }
}
