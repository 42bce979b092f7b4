import Dispatch
import LarderLMDB

@testable import Larder

extension Store {
  /// Waits for the step of an index that the background is about to take, and for what is read for it before.
  func settle() throws {
    try engine.writer.run {}
    let isRead = DispatchSemaphore(value: 0)
    engine.indexQueue.async { isRead.signal() }
    isRead.wait()
    try engine.writer.run {}
  }
}
