import Foundation
import Larder
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

/// Three clients that edit the same documents, offline and not, over a remote that drops, repeats and puts off
/// what they say, and engines that end at any moment.
@Suite(.timeLimit(.minutes(20))) struct SyncSimulationTests {
  @Test("nothing is lost and all copies become equal, whatever is dropped, repeated or ended")
  func converge() async throws {
    var random = RandomSource()
    for _ in 0..<repetitions(25) {
      let seed = random.next()
      do {
        var simulation = try SyncSimulation(seed: seed)
        let problems = try await simulation.run()
        #expect(problems == [], "LARDER_SEED=\(random.seed), simulation \(seed)")
        if !problems.isEmpty { return }
      } catch {
        Issue.record(error, "LARDER_SEED=\(random.seed), simulation \(seed)")
        return
      }
    }
  }
}
