internal import CLarderZstd
package import LarderImport

/// Zstandard (RFC 8878): frames one behind the other, skippable ones too, by libzstd.
///
/// Unchecked, because it belongs to one ``LarderImport/ByteSource``, which cannot be copied.
package final class ZstdDecompressor: Decompressor, @unchecked Sendable {
  private var input: CompressedInput
  private let context: OpaquePointer?
  private let mostByteCount: Int
  private var isInFrame = false
  /// How much libzstd wants to see next: a block and the header of the one behind it. It gets no more, so
  /// that an error is known to lie in that block.
  private var wanted = 0

  /// The largest window that libzstd takes by itself; files made with `--long` may have larger ones.
  static let usualWindowByteCount = 1 << 27

  package static func recognizes(_ head: [UInt8]) -> Bool {
    guard head.count == 4 else { return false }
    let isFrame = head == [0x28, 0xB5, 0x2F, 0xFD]
    return isFrame || head[0] & 0xF0 == 0x50 && head[1...] == [0x2A, 0x4D, 0x18]
  }

  /// - Parameter mostByteCount: The largest window, rounded down to a power of two, where that is more
  ///   than the usual 128 MB. A frame says how large its window is; most have 8 MB and less.
  package init(_ source: consuming ByteSource, mostByteCount: Int) {
    input = CompressedInput(source)
    context = ZSTD_createDCtx()
    self.mostByteCount = max(mostByteCount, Self.usualWindowByteCount)
    let power = Int.bitWidth - 1 - self.mostByteCount.leadingZeroBitCount
    let most = Int(ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound)
    if let context {
      ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Int32(min(power, most)))
    }
  }

  deinit { ZSTD_freeDCtx(context) }

  package func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
    guard let context else { throw input.noMemory() }
    var output = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
    while output.pos == 0, !room.isEmpty {
      let isAtEnd = try input.isEmpty()
      if isAtEnd, !isInFrame { return 0 }
      if !isInFrame { (isInFrame, wanted) = (true, ZSTD_FRAMEHEADERSIZE_MIN) }
      let result = input.take { bytes in
        var piece = ZSTD_inBuffer(
          src: bytes.baseAddress, size: min(bytes.count, max(wanted, 1)), pos: 0)
        let result = ZSTD_decompressStream(context, &output, &piece)
        return (result, piece.pos)
      }
      guard ZSTD_isError(result) == 0 else { throw error(result) }
      isInFrame = result != 0
      wanted = result
      // What had come before the end it still gave out.
      if isAtEnd, isInFrame, output.pos == 0 { throw input.cutOff("a zstd frame") }
    }
    return output.pos
  }

  private func error(_ code: Int) -> ImportError {
    switch ZSTD_getErrorCode(code) {
    case ZSTD_error_memory_allocation: return input.noMemory()
    case ZSTD_error_frameParameter_windowTooLarge:
      return input.error(
        found: "a zstd frame whose window takes more than \(mostByteCount) bytes",
        expected: "a window of at most \(mostByteCount) bytes, or more allowed by `--max-bytes`")
    default:
      let reason = String(cString: ZSTD_getErrorName(code))
      return input.damaged("zstd that libzstd refuses (\(reason))")
    }
  }
}

/// Without the checksum, a frame's header has at least so many bytes: magic number, descriptor, and the
/// window or the size.
private let ZSTD_FRAMEHEADERSIZE_MIN = 6
