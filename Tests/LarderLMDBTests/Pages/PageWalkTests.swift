import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

/// One kind of damage, and what is said of it.
struct Damage: Sendable, CustomTestStringConvertible {
  let name: String
  let reason: String
  let edit: @Sendable (inout EditedFile) -> Void

  init(_ name: String, _ reason: String, _ edit: @escaping @Sendable (inout EditedFile) -> Void) {
    self.name = name
    self.reason = reason
    self.edit = edit
  }

  var testDescription: String { name }
}

@Suite struct PageWalkTests {
  private let folder = TestFolder()

  /// A store with a tree of two levels, values on pages of their own, and free pages.
  private func file() throws -> EditedFile {
    let environment = try Environment.open(at: folder.store)
    let database = try #require(try environment.database(named: "documents/a", create: true))
    for round in 0..<3 {
      var transaction = try environment.beginWrite()
      for number in 0..<200 where round == 0 || number % 7 == round {
        let count = number % 20 == 0 ? 9000 : 60
        try transaction.put(
          String(repeating: "v", count: count + round), "key \(1000 + number)", in: database)
      }
      if round == 2 {
        for number in 100..<120 { _ = try transaction.delete("key \(1000 + number)", in: database) }
      }
      try transaction.commit()
    }
    try environment.close()
    return try EditedFile(folder.data)
  }

  private func faults(_ file: EditedFile) throws -> [PageFault] {
    try replaceContents(of: folder.data, by: Data(file.bytes))
    return try walk(folder.data).faults
  }

  @Test("the file that the damage is done to is sound before")
  func sound() throws {
    let file = try file()
    #expect(try faults(file) == [])
    #expect(file.branch != file.leaf)
    #expect(file.big.page > 1)
    #expect(file.nodeCount(file.freeLeaf) > 0)
  }

  @Test("damage to a page is told, and LMDB is kept from it", arguments: damages)
  func told(_ damage: Damage) throws {
    var file = try file()
    let before = file.bytes
    damage.edit(&file)
    #expect(file.bytes != before, "the damage changes something")

    let faults = try faults(file)

    #expect(
      faults.contains { "\($0)".contains(damage.reason) }, "\(damage.name): \(faults)")
    #expect(code { _ = try Environment.open(at: folder.store) } == .corrupted)
  }

  static let damages = meta + trees + pages + nodes + keys + values + freeList

  private static let meta: [Damage] = [
    Damage("meta page: flags", "it is no meta page") { $0.put16(1, 10, 2) },
    Damage("meta page: mark", "the mark of LMDB") { $0.put32(1, 16, 5) },
    Damage("meta page: version", "its format is 7") { $0.put32(1, 20, 7) },
    Damage("meta page: number", "it carries the number 9") { $0.put64(1, 0, 9) },
    Damage("meta page: page size of no power", "the page size 5000") { $0.put32(0, 40, 5000) },
    Damage("meta page: page size 0", "the page size 0") { $0.put32(0, 40, 0) },
    Damage("meta page: other page size", "differs from that of page 0") { $0.put32(1, 40, 8192) },
    Damage("meta page: last page 0", "the last page 0") { $0.put64($0.metaNumber, 136, 0) },
    Damage("meta page: last page huge", "the last page") { $0.put64($0.metaNumber, 136, 1 << 50) },
    Damage("meta page: last page far behind", "the file has") {
      $0.put64($0.metaNumber, 136, 1 << 20)
    },
    Damage("meta page: an older transaction", "does not follow") {
      $0.put64($0.metaNumber, 144, $0.meta.transaction - 4)
    },
    Damage("meta page: a later transaction", "does not follow") {
      $0.put64($0.metaNumber, 144, $0.meta.transaction + 2)
    },
    Damage("meta page: a transaction of the other page", "does not follow") {
      $0.put64(1 - $0.metaNumber, 144, $0.meta.transaction + 3)
    },
    Damage("meta page: the newest made the one before the other", "and its free pages of") {
      $0.put64($0.metaNumber, 144, $0.meta.transaction - 2)
    },
    Damage("meta page: the older made the newest", "and its free pages of") {
      $0.put64(1 - $0.metaNumber, 144, $0.meta.transaction + 1)
    },
    Damage("meta page: negative transaction", "is none") { $0.put64($0.metaNumber, 144, -5) },
    Damage("meta page: fixed map", "flags that no store") { $0.put16($0.metaNumber, 44, 9) },
    Damage("meta page: main tree of duplicates", "flags that no store") {
      $0.put16($0.metaNumber, 92, 4)
    },
  ]

  private static let trees: [Damage] = [
    Damage("tree: levels without a root", "no root and 2 levels") {
      $0.put64($0.mainLeaf, $0.tree + 40, -1)
    },
    Damage("tree: no levels", "has 0 levels") { $0.put16($0.mainLeaf, $0.tree + 6, 0) },
    Damage("tree: too many levels", "has 33 levels") { $0.put16($0.mainLeaf, $0.tree + 6, 33) },
    Damage("tree: one level too many", "not those of a branch") {
      $0.put16($0.mainLeaf, $0.tree + 6, 3)
    },
    Damage("tree: one level too few", "not those of a leaf") {
      $0.put16($0.mainLeaf, $0.tree + 6, 1)
    },
    Damage("tree: entries", "entries and says 3") { $0.put64($0.mainLeaf, $0.tree + 32, 3) },
    Damage("tree: branch pages", "branch pages and says 3") {
      $0.put64($0.mainLeaf, $0.tree + 8, 3)
    },
    Damage("tree: leaf pages", "leaf pages and says 99") {
      $0.put64($0.mainLeaf, $0.tree + 16, 99)
    },
    Damage("tree: overflow pages", "overflow pages and says 99") {
      $0.put64($0.mainLeaf, $0.tree + 24, 99)
    },
    Damage("tree: flags", "database documents/a has flags") {
      $0.put16($0.mainLeaf, $0.tree + 4, 4)
    },
    Damage("tree: root behind the last page", "it leads to page 500000") {
      $0.put64($0.mainLeaf, $0.tree + 40, 500_000)
    },
    Damage("tree: root is a meta page", "it leads to page 1") {
      $0.put64($0.mainLeaf, $0.tree + 40, 1)
    },
    Damage("tree: negative root", "it leads to page -7") {
      $0.put64($0.mainLeaf, $0.tree + 40, -7)
    },
    Damage("tree: a record of another size", "a tree where none can be") {
      // The rest of the node becomes part of the key's own room: sizes stay even and whole.
      let place = $0.node($0.mainLeaf, $0.treeNode)
      let key = $0.keyByteCount($0.mainLeaf, $0.treeNode)
      $0.put16($0.mainLeaf, place + 6, key - 2)
      $0.put16($0.mainLeaf, place, 50)
    },
    Damage("tree: in a leaf of documents", "a tree where none can be") {
      $0.put16($0.leaf, $0.node($0.leaf, 0) + 4, 2)
    },
    Damage("file: cut off in the midst", "the file ends before it") {
      $0.bytes.removeLast($0.bytes.count / 2 / 4096 * 4096)
    },
  ]

  private static let pages: [Damage] = [
    Damage("page: number", "it carries the number 3") { $0.put64($0.leaf, 0, 3) },
    Damage("page: flags of a branch", "not those of a leaf") { $0.put16($0.leaf, 10, 1) },
    Damage("page: flags of a leaf", "not those of a branch") { $0.put16($0.branch, 10, 2) },
    Damage("page: flags of fixed values", "not those of a leaf") { $0.put16($0.leaf, 10, 0x22) },
    Damage("page: lower in the header", "its free room") { $0.put16($0.leaf, 12, 8) },
    Damage("page: lower above upper", "its free room") {
      $0.put16($0.leaf, 12, $0.uint16($0.leaf, 14) + 2)
    },
    Damage("page: odd lower", "its free room") {
      $0.put16($0.leaf, 12, $0.uint16($0.leaf, 12) + 1)
    },
    Damage("page: upper beyond the page", "its free room") { $0.put16($0.leaf, 14, 5000) },
    Damage("page: no nodes", "it has 0 nodes") { $0.put16($0.leaf, 12, 16) },
    Damage("page: a branch with one node", "it has 1 nodes") { $0.put16($0.branch, 12, 18) },
    Damage("page: a node less", "its nodes take") {
      $0.put16($0.leaf, 12, $0.uint16($0.leaf, 12) - 2)
    },
    Damage("page: upper too low", "its nodes take") {
      $0.put16($0.leaf, 14, $0.uint16($0.leaf, 14) - 4)
    },
  ]

  private static let nodes: [Damage] = [
    Damage("node: in the free room", "node 0 lies at") {
      $0.put16($0.leaf, 16, $0.uint16($0.leaf, 14) - 2)
    },
    Damage("node: beyond the page", "node 0 lies at") { $0.put16($0.leaf, 16, 4092) },
    Damage("node: at an odd place", "node 0 lies at") {
      $0.put16($0.leaf, 16, $0.node($0.leaf, 0) - 1)
    },
    Damage("node: twice", "node 1 is there twice") {
      $0.put16($0.leaf, 18, $0.node($0.leaf, 0))
    },
    Damage("node: value too long for the page", "goes beyond the page") { file in
      // The node that lies last.
      let count = file.nodeCount(file.leaf)
      let last = (0..<count).max { file.node(file.leaf, $0) < file.node(file.leaf, $1) } ?? 0
      file.put16(file.leaf, file.node(file.leaf, last), 1500)
    },
    Damage("node: value too long for a leaf", "takes 3016 bytes") {
      $0.put16($0.leaf, $0.node($0.leaf, 0), 3000)
    },
    Damage("node: two nodes over each other", "lies over another one") { file in
      // One longer by as much as another is shorter.
      let leaf = file.leaf
      let small = (0..<file.nodeCount(leaf)).filter { file.flags(leaf, $0) == 0 }
      let places = small.sorted { file.node(leaf, $0) < file.node(leaf, $1) }
      let (first, second) = (places[0], places[1])
      file.put16(leaf, file.node(leaf, first), file.uint16(leaf, file.node(leaf, first)) + 8)
      file.put16(leaf, file.node(leaf, second), file.uint16(leaf, file.node(leaf, second)) - 8)
    },
    Damage("node: flags of several values", "node 0 has flags 0x4") {
      $0.put16($0.leaf, $0.node($0.leaf, 0) + 4, 4)
    },
    Damage("node: two flags", "node 0 has flags 0x3") {
      $0.put16($0.leaf, $0.node($0.leaf, 0) + 4, 3)
    },
    Damage("node: no key", "the key of node 0 takes 0") {
      $0.put16($0.leaf, $0.node($0.leaf, 0) + 6, 0)
    },
    Damage("node: no key in a branch", "the key of node 1 takes 0") {
      $0.put16($0.branch, $0.node($0.branch, 1) + 6, 0)
    },
    Damage("node: key too long", "the key of node 0 takes 600") {
      $0.put16($0.leaf, $0.node($0.leaf, 0) + 6, 600)
    },
  ]

  private static let keys: [Damage] = [
    Damage("keys: out of order in a leaf", "key 2 is out of order") {
      $0.put16($0.leaf, $0.node($0.leaf, 1) + 8, 0x7A7A)
    },
    Damage("keys: out of order in a branch", "is out of order") {
      $0.put16($0.branch, $0.node($0.branch, 1) + 8, 0x7A7A)
    },
    Damage("keys: equal", "key 1 is out of order") { file in
      let (leaf, count) = (file.leaf, file.keyByteCount(file.leaf, 0))
      for place in 0..<count / 2 {
        file.put16(
          leaf, file.node(leaf, 1) + 8 + 2 * place,
          file.uint16(leaf, file.node(leaf, 0) + 8 + 2 * place))
      }
    },
    Damage("keys: before the branch's", "key 0 is out of order") {
      $0.put16($0.leaf, $0.node($0.leaf, 0) + 8, 0x4141)
    },
    Damage("keys: behind the branch's", "belongs to the page after it") {
      $0.put16($0.leaf, $0.node($0.leaf, $0.nodeCount($0.leaf) - 1) + 8, 0x7A7A)
    },
    Damage("keys: a page in the place of another", "out of order") { file in
      let (one, other) = (file.child(file.branch, 1), file.child(file.branch, 2))
      file.setChild(file.branch, 1, other)
      file.setChild(file.branch, 2, one)
    },
    Damage("pages: one reached twice", "two places lead to it") {
      $0.setChild($0.branch, 2, $0.child($0.branch, 1))
    },
    Damage("pages: a branch below itself", "two places lead to it") {
      $0.setChild($0.branch, 1, $0.branch)
    },
    Damage("pages: a leaf that is free", "it is free") { file in
      file.setChild(file.branch, 1, file.uint64(file.freeLeaf, file.value(file.freeLeaf, 0) + 8))
    },
  ]

  private static let values: [Damage] = [
    Damage("value: no page of a value", "not the first page of a value") {
      $0.put16($0.big.page, 10, 2)
    },
    Damage("value: page number", "not the first page of a value") { $0.put64($0.big.page, 0, 77) },
    Damage("value: too few pages", "its value takes 3 pages and has 2") {
      $0.put32($0.big.page, 12, 2)
    },
    Damage("value: pages beyond the end", "its value takes 3 pages") {
      $0.put32($0.big.page, 12, 100_000)
    },
    Damage("value: longer than its pages", "pages and has 3") {
      $0.put16($0.big.leaf, $0.node($0.big.leaf, $0.big.node), 20_000)
    },
    Damage("value: pages of others", "it") { $0.put32($0.big.page, 12, 30) },
    Damage("value: a leaf as page", "two places lead to it") {
      $0.put64($0.big.leaf, $0.value($0.big.leaf, $0.big.node), $0.leaf)
    },
    Damage("value: a meta page", "it leads to page 0") {
      $0.put64($0.big.leaf, $0.value($0.big.leaf, $0.big.node), 0)
    },
  ]

  private static let freeList: [Damage] = [
    Damage("free list: a transaction of 4 bytes", "is no transaction") {
      let place = $0.node($0.freeLeaf, 0)
      $0.put16($0.freeLeaf, place + 6, 4)
      $0.put16($0.freeLeaf, place, $0.uint16($0.freeLeaf, place) + 4)
    },
    Damage("free list: transaction 0", "transaction 0 of the free list") {
      $0.put64($0.freeLeaf, $0.node($0.freeLeaf, 0) + 8, 0)
    },
    Damage("free list: a transaction to come", "and its free pages of 1099511627776") {
      $0.put64($0.freeLeaf, $0.node($0.freeLeaf, $0.nodeCount($0.freeLeaf) - 1) + 8, 1 << 40)
    },
    Damage("free list: more pages than there is room for", "are no list") {
      $0.put64($0.freeLeaf, $0.value($0.freeLeaf, 0), 10_000)
    },
    Damage("free list: fewer than none", "are no list") {
      $0.put64($0.freeLeaf, $0.value($0.freeLeaf, 0), -1)
    },
    Damage("free list: pages out of order", "are out of order") { file in
      let place = file.value(file.freeLeaf, 0)
      file.put64(file.freeLeaf, place + 8, file.uint64(file.freeLeaf, place + 16))
    },
    Damage("free list: a meta page", "are out of order") { file in
      let place = file.value(file.freeLeaf, 0)
      file.put64(file.freeLeaf, place + 8 * file.uint64(file.freeLeaf, place), 1)
    },
    Damage("free list: a page behind the last", "are out of order") {
      $0.put64($0.freeLeaf, $0.value($0.freeLeaf, 0) + 8, 1 << 40)
    },
    Damage("free list: a page in use", "it is free") { file in
      let place = file.value(file.freeLeaf, 0)
      let count = file.uint64(file.freeLeaf, place)
      // In the order of the list: only the highest can grow.
      file.put64(file.freeLeaf, place, 1)
      file.put64(file.freeLeaf, place + 8, count > 0 ? file.leaf : 0)
    },
    Damage("free list: a page twice", "it is free twice") { file in
      let (first, second) = (file.value(file.freeLeaf, 0), file.value(file.freeLeaf, 1))
      file.put64(file.freeLeaf, second, 1)
      file.put64(file.freeLeaf, second + 8, file.uint64(file.freeLeaf, first + 8))
    },
    Damage("free list: its own page", "free") { file in
      file.put64(file.freeLeaf, file.value(file.freeLeaf, 0), 1)
      file.put64(file.freeLeaf, file.value(file.freeLeaf, 0) + 8, file.freeLeaf)
    },
  ]
}
