import LarderTestKit
import Testing

@testable import LarderRemote

@Suite struct KintoNameTests {
  @Test(
    "names that people read stay as they are, and others are escaped",
    arguments: [
      ("abc-1", "abc-1"), ("my_note", "my_note"), ("a b", "a_20b"), ("é", "0_30_C3_A9"),
      ("", "0_30"), ("_private", "0_30_private"), ("-7", "0_30-7"), ("a_41", "a_5F41"),
      ("_AB", "0_30_5FAB"), ("__", "0_30__"), ("0_30", "0_5F30"), ("\u{0}", "0_30_00"),
      ("batch", "0_30batch"), ("batches", "0_30batches"), ("a/b", "a_2Fb"), ("Batch", "Batch"),
    ])
  func examples(name: String, id: String) {
    #expect(KintoName.id(name) == id)
    #expect(KintoName.name(id).map { Array($0.utf8) } == Array(name.utf8))
  }

  @Test("every name has an id of its own that Kinto takes, and comes back from it")
  func roundTrip() {
    var random = RandomSource()
    let alphabet = ["a", "F", "0", "3", "_", "-", "batch", "/", "é", "e\u{301}", "\u{0}", "👩‍👩‍👧"]
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

  @Test("ids that no name has are not read as one", arguments: ["a_41", "a_FF", "0_30a", "batch"])
  func strangers(id: String) {
    #expect(KintoName.name(id) == nil)
  }

  @Test("a key of Larder's has an id, and a text that is longer than any has none")
  func lengths() {
    #expect(KintoName.id(String(repeating: "é", count: 127))?.utf8.count == 766)
    #expect(KintoName.id(String(repeating: "k", count: 1001)) == nil)
    #expect(KintoName.id(String(repeating: " ", count: 400)) == nil)
  }
}
