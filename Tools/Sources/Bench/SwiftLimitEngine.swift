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
  private let filled: OpaquePointer

  init(_ workload: Workload, in parent: ScratchFolder) throws {
    self.workload = workload
    folder = try parent.folder(name)
    filled = bench_store_open(try folder.folder("filled").path, BENCH_NATURAL, false)
  }

  deinit {
    bench_store_close(filled)
    folder.remove()
  }

  func fill() {
    _ = bench_save(filled, workload.raw, 1)
  }

  func run(_ operation: Operation) -> Sample? {
    switch operation {
    case .bulkSave, .saveUnchanged: return nil
    case .getByKey:
      var sum: UInt64 = 0
      let seconds = bench_visit_lookups(
        filled, workload.raw,
        { context, record in
          guard let context, let record else { return }
          context.assumingMemoryBound(to: UInt64.self).pointee &+= Contact(packed: record).glance
        }, &sum)
      return Sample(seconds: seconds, checksum: sum)
    case .scanDecoded:
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
      return Sample(seconds: seconds, checksum: contacts.reduce(0) { $0 &+ $1.digest })
    }
  }
}

extension Contact {
  /// Decodes a record as CBench's record.h describes it.
  fileprivate init(packed record: UnsafePointer<UInt8>) {
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
    tags = []
    tags.reserveCapacity(Int(record[1]))
    for _ in 0..<record[1] { tags.append(next()) }
  }
}
