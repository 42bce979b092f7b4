import LarderTestKit
import Testing

@testable import LarderSync

@Suite struct FetchRecordTests {
  @Test(
    "a record is read as it was written",
    arguments: [
      FetchRecord(success: 8e8), FetchRecord(),
      FetchRecord(
        success: 8e8,
        failure: FetchRecord.Failure(seconds: 9e8, pause: 1.5, count: 3, kind: "URLError")),
      FetchRecord(
        failure: FetchRecord.Failure(seconds: -1, pause: 0, count: 127, kind: "")),
      FetchRecord(
        failure: FetchRecord.Failure(
          seconds: 1, pause: 60, isAdvised: true, count: 1, kind: "ServerError")),
    ])
  func roundTrip(record: FetchRecord) {
    #expect(FetchRecord(record.bytes) == record)
    #expect(record.bytes.count <= 256)
  }

  @Test("the type of an error and the number of failures are cut to what fits")
  func cut() {
    let failure = FetchRecord.Failure(
      seconds: 1, pause: 1, count: 1_000, kind: String(repeating: "e", count: 500))

    let read = FetchRecord(FetchRecord(failure: failure).bytes)

    #expect(read?.failure?.count == 127)
    #expect(read?.failure?.kind.count == 200)
  }

  @Test("a success alone is what it was before failures were kept: eight bytes")
  func short() {
    let bytes: [UInt8] = [0x41, 0xC7, 0xD7, 0x84, 0, 0, 0, 0]
    #expect(FetchRecord(bytes) == FetchRecord(success: 8e8))
    #expect(FetchRecord(success: 8e8).bytes == bytes)
  }

  @Test("bytes that are no record are none, and what they say of time is no trap")
  func rubbish() {
    var random = RandomSource()
    for count in 0..<60 {
      let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      #expect((FetchRecord(bytes) != nil) == (count == 8 || count >= 25), "\(random.hint)")
    }
  }
}
