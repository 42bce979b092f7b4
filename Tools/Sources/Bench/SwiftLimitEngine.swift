import CBench

/// The limit of any Swift library: LMDB driven from C, and the hand-packed record decoded by hand
/// into the very struct that Larder returns, trusting every byte.
///
/// C's strings cost a third of Swift's, which no record format can change: what a library adds is
/// seen against this engine. Reads only; in a save the two limits are the same.
final class SwiftLimitEngine: Engine {
  let name = "lmdb-swift"
  private let workload: Workload
  private let folder: ScratchFolder
  private var filled: OpaquePointer?

  init(_ workload: Workload, in parent: ScratchFolder) throws {
    self.workload = workload
    folder = try parent.folder(name)
  }

  deinit {
    if let filled { bench_store_close(filled) }
    folder.remove()
  }

  /// The store that holds the whole workload.
  private func store() throws -> OpaquePointer {
    if let filled { return filled }
    let folder = try folder.folder("filled")
    guard let store = bench_store_open(folder.path, BENCH_NATURAL, BENCH_NO_INDEX) else {
      throw WrongResult(description: "no store")
    }
    _ = bench_save(store, workload.raw, 1)
    filled = store
    return store
  }

  func run(_ operation: Operation) throws -> Sample? {
    switch operation {
    case .getByKey:
      let filled = try store()
      var sum: UInt64 = 0
      let seconds = bench_visit_lookups(
        filled, workload.raw,
        { context, record in
          guard let context, let record else { return }
          context.assumingMemoryBound(to: UInt64.self).pointee &+= Contact(packed: record).glance
        }, &sum)
      return Sample(value: seconds, checksum: sum)
    case .scanDecoded:
      let filled = try store()
      var contacts: [Contact] = []
      contacts.reserveCapacity(workload.count)
      let seconds = withUnsafeMutablePointer(to: &contacts) { contacts in
        bench_visit_all(
          filled,
          { context, record in
            guard let context, let record else { return }
            context.assumingMemoryBound(to: [Contact].self).pointee.append(
              Contact(packed: record))
          }, contacts)
      }
      return Sample(value: seconds, checksum: contacts.reduce(0) { $0 &+ $1.digest })
    default: return nil
    }
  }
}

extension Contact {
  /// Decodes a record as CBench's record.h describes it.
  init(packed record: UnsafePointer<UInt8>) {
    let bytes = UnsafeRawPointer(record)
    let flags = record[0]
    var text = bytes + 36
    var field = 2
    func next() -> String {
      let count = Int(record[field])
      defer {
        text += count
        field += 1
      }
      return String(
        decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
    }
    order = bytes.loadUnaligned(fromByteOffset: 12, as: Int64.self)
    balance = bytes.loadUnaligned(fromByteOffset: 20, as: Double.self)
    updatedAt = bytes.loadUnaligned(fromByteOffset: 28, as: Double.self)
    active = flags & 1 != 0
    var place: (lat: Double, lon: Double)?
    if flags & 2 != 0 {
      place = (
        text.loadUnaligned(as: Double.self),
        text.loadUnaligned(fromByteOffset: 8, as: Double.self)
      )
      text += 16
    }
    id = next()
    name = next()
    phone = next()
    address = next()
    city = next()
    let label = next()
    geo = place.map { Geo(lat: $0.lat, lon: $0.lon, label: flags & 4 != 0 ? label : nil) }
    tags = (0..<record[1]).map { _ in next() }
  }
}
