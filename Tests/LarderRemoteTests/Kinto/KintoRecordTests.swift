import Foundation
import LarderImport
import LarderTestKit
import Testing

@testable import LarderRemote

@Suite struct KintoRecordTests {
  private let stamp = KintoStamp(
    Mutation(id: "m1", key: RemoteKey("c", "k"), base: nil, document: RemoteDocument(json: Data())))

  /// The record that Kinto would give back.
  private func record(_ text: String, _ stamps: [KintoStamp] = []) throws -> KintoRecord {
    let body = try KintoRecord.body(of: RemoteDocument(json: Data(text.utf8)), stamps)
    let root = try JSONMessage(body, name: "body").root
    var json = try #require(root["data"]?.withBytes { Array($0) })
    json.removeLast()
    json += Array(#","id":"a","last_modified":17}"#.utf8)
    return try KintoRecord(try JSONMessage(json, name: "record").root)
  }

  @Test(
    "a document comes back as it was, whatever its fields are called",
    arguments: [
      "{}", #"{"id":"x","last_modified":1,"schema":2,"deleted":true,"_a":3,"$b":4,"$$c":5,"":6}"#,
      #"{"a":1.5,"b":[1,-2,null,true,"x"],"c":{"id":1,"_x":{"$json":1}}}"#,
      #"{"a":{"$json":"1"},"b":[{"$json":"x"}],"c":{"$json":"1","d":1}}"#,
      #"{"a":1e400,"b":-0.0,"c":-0,"d":3.14159265358979323846,"e":1e30,"f":18446744073709551616}"#,
      #"{"a":"\u0000","b":{"x\u0000":1},"c":"\ud83d\ude00"}"#,
      #"{"a":"# + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}",
    ])
  func roundTrip(text: String) throws {
    let document = try #require(try record(text).document)
    #expect(document.isSame(as: RemoteDocument(json: Data(text.utf8))), "\(document)")
  }

  @Test("plain values stand as they are for other clients, and others as text")
  func plain() throws {
    let document = RemoteDocument(
      json: Data(#"{"id":7,"a":12.5,"b":[9223372036854775807],"c":0.30000000000000004}"#.utf8))
    let body = String(decoding: try KintoRecord.body(of: document, [stamp]), as: UTF8.self)
    #expect(
      body
        == #"{"data":{"_larder":["\#(stamp.text)"],"$id":7,"a":12.5,"b":[9223372036854775807],"#
        + #""c":{"$json":"0.30000000000000004"}}}"#)
  }

  @Test(
    "what no record can be is refused",
    arguments: ["[1]", "{", #"{"a":1,"a":2}"#, #"{"b":{"a":1,"a":2}}"#, #"{"a\u0000":1}"#])
  func refusals(text: String) {
    #expect(throws: KintoValue.Refusal.self) {
      try KintoRecord.body(of: RemoteDocument(json: Data(text.utf8)), [])
    }
  }

  @Test("a digest is the same in any order and spelling, and another one for another document")
  func digest() {
    let texts = [#"{"a":1.50,"b":"\u0041"}"#, #"{ "b" : "A", "a" : 15e-1 }"#]
    let digests = texts.map { KintoDigest.of(RemoteDocument(json: Data($0.utf8))) }
    #expect(digests[0] == digests[1])
    for other in [#"{"a":1.5,"b":"B"}"#, #"{"a":"1.5","b":"A"}"#, #"{"a":1.5}"#] {
      #expect(KintoDigest.of(RemoteDocument(json: Data(other.utf8))) != digests[0])
    }
  }

  @Test("stamps are carried over with the revisions that they made, and the oldest are dropped")
  func stamps() throws {
    var stamps: [KintoStamp] = []
    let count = KintoStamp.mostCount + 2
    for number in 1...count {
      let mutation = Mutation(
        id: "m\(number)", key: RemoteKey("c", "k"), base: nil,
        document: RemoteDocument(json: Data(#"{"n":\#(number)}"#.utf8)))
      stamps = stamps.adding(KintoStamp(mutation), behind: "\(number - 1)")
    }
    let record = try record(#"{"n":\#(count)}"#, stamps)
    #expect(record.stamps == stamps && stamps.count == KintoStamp.mostCount)
    #expect(stamps.map(\.revision) == [nil] + (3..<count).reversed().map { "\($0)" })

    func answer(_ number: Int, _ text: String? = nil) -> PushResult? {
      let mutation = Mutation(
        id: "m\(number)", key: RemoteKey("c", "k"), base: nil,
        document: RemoteDocument(json: Data((text ?? #"{"n":\#(number)}"#).utf8)))
      return record.answer(to: mutation, KintoStamp(mutation))
    }
    #expect(answer(count) == .accepted(revision: "17"))
    #expect(answer(9) == .accepted(revision: "9"))
    #expect(answer(2) == nil && answer(count + 1) == nil)
    guard case .rejected("reused", _)? = answer(9, "{}") else {
      Issue.record("another edit under a used id is \(String(describing: answer(9, "{}")))")
      return
    }
  }

  @Test("a record that others have changed is not what the mutation made")
  func changedByOthers() throws {
    let mutation = Mutation(
      id: "m", key: RemoteKey("c", "k"), base: nil,
      document: RemoteDocument(json: Data(#"{"n":1}"#.utf8)))
    let record = try record(#"{"n":2}"#, [KintoStamp(mutation)])
    #expect(record.answer(to: mutation, KintoStamp(mutation)) == .accepted(revision: "before-17"))
  }
}
