import CLarderZlib
import CLarderZstd

/// Makes the files that the command line decompresses.
enum Compressing {
  /// One gzip member.
  static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
      &stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var input = bytes
    let room = Int(deflateBound(&stream, UInt(bytes.count)))
    return input.withUnsafeMutableBufferPointer { input in
      [UInt8](unsafeUninitializedCapacity: room) { output, count in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = UInt32(room)
        precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
        count = Int(stream.total_out)
      }
    }
  }

  /// One zstd frame with a checksum.
  ///
  /// - Parameter windowPower: Of two; then the frame says how large its window is, and not its content.
  static func zstd(_ bytes: [UInt8], windowPower: Int32? = nil) -> [UInt8] {
    let context = ZSTD_createCCtx()
    defer { ZSTD_freeCCtx(context) }
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
    if let windowPower {
      ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowPower)
      ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0)
    }
    let room = ZSTD_compressBound(bytes.count) + 64
    return [UInt8](unsafeUninitializedCapacity: room) { output, count in
      bytes.withUnsafeBytes { input in
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: room, pos: 0)
        if windowPower != nil {
          // Without an end at first, so that nobody knows how much there will be.
          _ = ZSTD_compressStream2(context, &target, &source, ZSTD_e_flush)
        }
        precondition(ZSTD_compressStream2(context, &target, &source, ZSTD_e_end) == 0)
        count = target.pos
      }
    }
  }

  /// A frame of zstd that says nothing.
  static let skippable: [UInt8] = [0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
}
