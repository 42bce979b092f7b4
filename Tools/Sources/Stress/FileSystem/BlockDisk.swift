import Foundation

/// A disk as it can be found after the power went: what was written before its last flush is there,
/// and of what came later any part, in any order.
struct BlockDisk {
  private static let blockByteCount = 4096

  /// The blocks that have something in them, by number.
  private var blocks: [Int: [UInt8]] = [:]
  private let byteCount: Int
  private let record: Data
  private var pending: [(time: Int, place: Int, bytes: Range<Int>)] = []
  private var time = 0

  /// Begins with the image that a recorded disk began with.
  init(base: String, record: Data) throws {
    self.record = record
    let data = try Data(contentsOf: URL(fileURLWithPath: base), options: .alwaysMapped)
    byteCount = data.count
    let zeros = [UInt8](repeating: 0, count: Self.blockByteCount)
    data.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: Self.blockByteCount) {
        let block = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.blockByteCount])
        guard let address = block.baseAddress, memcmp(address, zeros, zeros.count) != 0 else {
          continue
        }
        blocks[start / Self.blockByteCount] = [UInt8](block)
      }
    }
  }

  mutating func apply(_ event: PowerRecord.Event) {
    time += 1
    switch event {
    case .wrote(_, let place, let bytes): pending.append((time, place, bytes))
    case .synced:
      for write in pending { apply(write.place, write.bytes) }
      pending = []
    default: break  // Names of the files that the disk itself consists of.
    }
  }

  private mutating func apply(_ place: Int, _ bytes: Range<Int>) {
    var done = 0
    while done < bytes.count {
      let (number, offset) = (place + done).quotientAndRemainder(dividingBy: Self.blockByteCount)
      let count = min(bytes.count - done, Self.blockByteCount - offset)
      var block = blocks[number] ?? [UInt8](repeating: 0, count: Self.blockByteCount)
      block.withUnsafeMutableBytes { target in
        record.withUnsafeBytes { source in
          let from = source[bytes.lowerBound + done..<bytes.lowerBound + done + count]
          UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: from))
        }
      }
      blocks[number] = block
      done += count
    }
  }

  /// Writes what is left of it to a file, which is made anew.
  func write(to path: String, _ survival: inout Survival) throws {
    unlink(path)
    let file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw PowerRecord.Unreadable(description: "\(path) cannot be made") }
    defer { close(file) }
    guard ftruncate(file, byteCount) == 0 else {
      throw PowerRecord.Unreadable(description: "\(path) cannot be made so large")
    }
    func put(_ bytes: UnsafeRawBufferPointer, _ place: Int) throws {
      guard pwrite(file, bytes.baseAddress, bytes.count, place) == bytes.count else {
        throw PowerRecord.Unreadable(description: "\(path) cannot be written")
      }
    }
    for (number, block) in blocks {
      try block.withUnsafeBytes { try put($0, number * Self.blockByteCount) }
    }
    survival.prepare(pending.map(\.time))
    try record.withUnsafeBytes { record in
      for write in pending where survival.keeps(write.time) {
        let torn = survival.tear() != nil
        // File systems expect a sector of theirs to be written whole; these are of 4 KiB.
        var start = 0
        while start < write.bytes.count {
          let count = torn ? min(Self.blockByteCount, write.bytes.count - start) : write.bytes.count
          if !torn || survival.keepsSector() {
            let from = write.bytes.lowerBound + start
            let bytes = UnsafeRawBufferPointer(rebasing: record[from..<from + count])
            try put(bytes, write.place + start)
          }
          start += count
        }
      }
    }
  }
}
