/// What an engine took for an operation.
struct Measurement {
  /// Kebab-case words: of ``Operation``, or of ``StudiedOperation``.
  var operation: String
  var unit: Unit
  var documents: Int
  /// The documents that one run of the operation handles.
  var handled: Int
  var engine: String
  var spread: Spread
  /// Of the medians: this engine's by that of each engine that takes part.
  var ratios: [String: Double]

  enum Unit: String { case seconds, bytes }

  /// The limit: LMDB driven from C.
  static let limit = "lmdb-c"
  /// The engines that the others are compared with, nearest to the metal first.
  static let references = [limit, "lmdb-swift", "sqlite-c"] + peers + ["larder"]
  /// Other libraries, where the benchmark was built with them.
  #if PEERS
    private static let peers = ["grdb"]
  #else
    private static let peers: [String] = []
  #endif
}
