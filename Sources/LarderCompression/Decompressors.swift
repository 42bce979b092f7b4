package import LarderImport

/// What the command line can read that is compressed.
package let systemDecompressors: [any Decompressor.Type] = [
  GzipDecompressor.self, ZstdDecompressor.self,
]
