internal import CLarderZlib
package import LarderImport

/// gzip (RFC 1952): one member or several, one behind the other, by zlib.
///
/// Unchecked, because it belongs to one ``LarderImport/ByteSource``, which cannot be copied.
package final class GzipDecompressor: Decompressor, @unchecked Sendable {
  private var input: CompressedInput
  /// Where zlib's state can point back to it.
  private let stream: UnsafeMutablePointer<z_stream>
  private var isInMember = false
  private let beginning: Int32

  package static func recognizes(_ head: [UInt8]) -> Bool { head.starts(with: [0x1F, 0x8B]) }

  /// What it takes is some 40 KB and the same for every file.
  package init(_ source: consuming ByteSource, mostByteCount: Int) {
    input = CompressedInput(source)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15: windows of 32 KB, the largest that the format has; 16: gzip, with its checksums.
    beginning = inflateInit2_(
      stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  package func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
    guard beginning == Z_OK else { throw input.noMemory() }
    while !room.isEmpty {
      if try input.isEmpty() {
        guard isInMember else { return 0 }
        throw input.cutOff("a gzip member")
      }
      if !isInMember, !(try beginMember()) { return 0 }
      let (result, count) = inflate(into: room)
      switch result {
      case Z_OK, Z_BUF_ERROR: break
      case Z_STREAM_END:
        isInMember = false
        inflateReset(stream)
      case Z_MEM_ERROR: throw input.noMemory()
      default:
        let reason = stream.pointee.msg.map { String(cString: $0) } ?? "error \(result)"
        throw input.damaged("gzip that zlib refuses (\(reason))")
      }
      if count > 0 { return count }
    }
    return 0
  }

  /// One step of zlib: what it says, and how many bytes came.
  private func inflate(into room: UnsafeMutableRawBufferPointer) -> (result: Int32, count: Int) {
    stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(clamping: room.count)
    let before = Int(stream.pointee.avail_out)
    let result = input.take { bytes in
      // zlib does not write to it.
      stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
      stream.pointee.avail_in = UInt32(bytes.count)
      let result = CLarderZlib.inflate(stream, Z_NO_FLUSH)
      return (result, bytes.count - Int(stream.pointee.avail_in))
    }
    return (result, before - Int(stream.pointee.avail_out))
  }

  /// Makes sure that another member begins; false where nothing follows but zeros, with which tapes and
  /// some tools fill a file up.
  private func beginMember() throws(ImportError) -> Bool {
    while case let byte? = try input.peek(), byte == 0 { input.skip() }
    guard let byte = try input.peek() else { return false }
    guard byte == 0x1F else {
      throw input.damaged("something that is no gzip member, behind the last one")
    }
    isInMember = true
    return true
  }
}
