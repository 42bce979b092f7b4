import Foundation

/// What this program does as a child of itself: `stress worker ROLE ARGUMENT...`.
///
/// A worker prints what it did line by line, each in one system call and only once it is true.
protocol Worker: Sendable {
  static var role: String { get }
  static func run(_ arguments: [String]) throws
}

let workers: [any Worker.Type] = [
  KillWriter.self, KillWitness.self, KillConsumer.self,
  HistoryProcess.self, LoadWorker.self,
  HandWorker.self, FaultWorker.self,
  PowerLoad.self, PowerImagesWorker.self, CorruptBases.self, CorruptImages.self,
  FileSystemImages.self, SyncClient.self,
  PublishApp.self, PublishExtension.self, PublishWidget.self,
]

/// Prints a line in one system call, so that a kill leaves it whole or out.
func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}
