import LarderTestKit
import Testing

@testable import LarderRemote

@Suite struct KintoNameTests {
  @Test(
    "names that people read stay as they are, and others are escaped",
    arguments: [
      ("abc-1", "abc-1"), ("my_note", "my_note"), ("a b", "a_x20_b"), ("é", "0_x30__xC3A9_"),
      ("", "0_x30_"), ("_private", "0_x30__private"), ("-7", "0_x30_-7"), ("a_41", "a_41"),
      ("size_x10", "size_x10"), ("a_x41_", "a_x5F_x41_"), ("__", "0_x30___"),
      ("0_x30_", "0_x5F_x30_"), ("\u{0}", "0_x30__x00_"), ("a é", "a_x20C3A9_"),
      ("batch", "0_x30_batch"), ("batches", "0_x30_batches"), ("a/b", "a_x2F_b"),
      ("Batch", "Batch"),
    ])
  func examples(name: String, id: String) {
    #expect(KintoName.id(name) == id)
    #expect(KintoName.name(id).map { Array($0.utf8) } == Array(name.utf8))
  }

  @Test("every name has an id of its own that Kinto takes, and comes back from it")
  func roundTrip() {
    var random = RandomSource()
    let alphabet = [
      "a", "F", "0", "3", "_", "x", "_x41_", "x41_", "-", "batch", "/", "é", "e\u{301}", "\u{0}",
      "👩‍👩‍👧",
    ]
    var names: [String: [UInt8]] = [:]
    for _ in 0..<20_000 {
      let name = random.array(0..<7) { alphabet.randomElement(using: &$0) ?? "" }.joined()
      guard let id = KintoName.id(name) else {
        Issue.record("\(name) has none, \(random.hint)")
        continue
      }
      #expect(id.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_\-]*/) != nil && !id.hasPrefix("batch"))
      #expect(KintoName.name(id).map { Array($0.utf8) } == Array(name.utf8), "\(random.hint)")
      #expect(
        names.updateValue(Array(name.utf8), forKey: id) ?? Array(name.utf8) == Array(name.utf8))
    }
  }

  @Test(
    "ids that no name has are not read as one", arguments: ["a_x41_", "a_xFF_", "0_x30_a", "batch"])
  func strangers(id: String) {
    #expect(KintoName.name(id) == nil)
  }

  @Test("a key of Larder's has an id, and a text that is longer than any has none")
  func lengths() {
    #expect(KintoName.id(String(repeating: "é", count: 127))?.utf8.count == 517)
    #expect(KintoName.id(String(repeating: "k", count: 1001)) == nil)
    #expect(KintoName.id(String(repeating: " ", count: 500)) == nil)
  }
}
