import LarderRemote
import Testing

@Suite struct RemoteKeyTests {
  @Test("names are ordered by the bytes of the collection, and then of the key")
  func order() {
    let keys = [
      RemoteKey("a", "z"), RemoteKey("a", "é"), RemoteKey("ab", "a"), RemoteKey("b", "A"),
      RemoteKey("b", "a"),
    ]
    #expect(keys.shuffled().sorted() == keys)
  }
}
