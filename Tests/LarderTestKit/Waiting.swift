import Foundation

/// Waits until something holds, for two minutes at most: false where it does not by then.
///
/// For what happens soon on any machine; a test that is right never waits that long.
package func eventually(
  isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async throws -> Bool {
  for _ in 0..<120_000 {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(1))
  }
  return try condition()
}

/// How long a processor worked on this thread's behalf: what waits for a busy machine counts nothing.
package func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
  func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
  let start = seconds()
  try body()
  return seconds() - start
}
