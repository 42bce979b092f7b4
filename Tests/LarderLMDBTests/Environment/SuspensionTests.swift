import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite("environments that are suspended and resumed while threads read and write")
struct SuspensionTests {
  let folder = TestFolder()

  @Test("who meets the end of a suspension is told of the suspension, and of no closing")
  func between() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "0"])
    let isOver = Flag()
    let threads = (0..<4).map { number in
      OnThread {
        while !isOver.isSet {
          do throws(LMDBError) {
            if number == 0 {
              try environment.beginWrite().commit()
            } else {
              _ = try environment.beginRead()
            }
          } catch  where error.code == .suspended {
            // Most of the time it is.
          }
        }
      }
    }
    for _ in 0..<repetitions(500) {
      try environment.suspend(timeoutSeconds: 300)
      try environment.resume()
    }
    isOver.set()
    for thread in threads { try thread.value() }
    try environment.close()
  }
}
