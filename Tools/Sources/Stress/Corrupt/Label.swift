import Larder

/// A document of a store that is damaged, with indexes of every sort: over one field, unique, over two,
/// over elements, of some documents alone, and with values that are longer than an entry keeps.
@Document
struct Label: Identifiable, Equatable, Sendable, Codable {
  var id: Int
  @Indexed(unique: true) var code: String
  @Indexed var shelf: Int
  @Indexed var rank: Int
  var tags: [String]

  static let indexes: [Index<Self>] = [
    Index(.ascending(\.shelf), .descending(\.rank)), Index(\.tags),
    Index(\.rank, name: "low", where: { $0.shelf < 3 }),
  ]

  init(_ id: Int, long isLong: Bool) {
    self.id = id
    let code = "c\(10_000 + id)"
    self.code = isLong ? String(repeating: "long ", count: 60) + code : code
    shelf = id % 6
    rank = id &* 7919 % 101
    tags = ["t\(id % 4)", "u\(id % 9)"]
  }
}
