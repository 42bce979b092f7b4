import Foundation
import LarderTestKit
@testable import LarderLMDB

/// The bytes of a data file, to be damaged in one place.
struct EditedFile {
  var bytes: [UInt8]
  let meta: MetaPage

  static let pageByteCount = 4096

  init(_ path: String) throws {
    bytes = [UInt8](try contents(of: path))
    guard case .success(let metas) = try MetaPages.read(PageFile(path)) else { throw NoStore() }
    meta = metas.newest
  }

  struct NoStore: Error {}

  func uint16(_ page: Int, _ place: Int) -> Int {
    let at = page * Self.pageByteCount + place
    return Int(bytes[at]) | Int(bytes[at + 1]) << 8
  }

  func uint64(_ page: Int, _ place: Int) -> Int {
    (0..<8).reduce(0) { $0 | Int(bytes[page * Self.pageByteCount + place + $1]) << (8 * $1) }
  }

  mutating func put16(_ page: Int, _ place: Int, _ value: Int) { put(page, place, value, 2) }
  mutating func put32(_ page: Int, _ place: Int, _ value: Int) { put(page, place, value, 4) }
  mutating func put64(_ page: Int, _ place: Int, _ value: Int) { put(page, place, value, 8) }

  private mutating func put(_ page: Int, _ place: Int, _ value: Int, _ count: Int) {
    for index in 0..<count {
      bytes[page * Self.pageByteCount + place + index] =
        UInt8(truncatingIfNeeded: value >> (8 * index))
    }
  }

  // MARK: Where things are

  /// Where node `index` of a page lies.
  func node(_ page: Int, _ index: Int) -> Int { uint16(page, 16 + 2 * index) }

  func nodeCount(_ page: Int) -> Int { (uint16(page, 12) - 16) / 2 }

  func keyByteCount(_ page: Int, _ index: Int) -> Int { uint16(page, node(page, index) + 6) }

  /// Where the value of a leaf's node lies, or the number of its page.
  func value(_ page: Int, _ index: Int) -> Int {
    node(page, index) + 8 + keyByteCount(page, index)
  }

  func flags(_ page: Int, _ index: Int) -> Int { uint16(page, node(page, index) + 4) }

  func child(_ page: Int, _ index: Int) -> Int {
    let place = node(page, index)
    return uint16(page, place) | uint16(page, place + 2) << 16 | uint16(page, place + 4) << 32
  }

  mutating func setChild(_ page: Int, _ index: Int, _ child: Int) {
    put32(page, node(page, index), child)
    put16(page, node(page, index) + 4, child >> 32)
  }

  /// The leaf of the main tree, which is its root in a small store.
  var mainLeaf: Int { meta.main.root }
  var freeLeaf: Int { meta.freeList.root }
  var metaNumber: Int { meta.number }

  /// The first node of the main leaf that is a tree with branches.
  var treeNode: Int {
    (0..<nodeCount(mainLeaf)).first {
      flags(mainLeaf, $0) == 2 && uint16(mainLeaf, value(mainLeaf, $0) + 6) > 1
    } ?? 0
  }

  /// The place of that tree's record in the main leaf.
  var tree: Int { value(mainLeaf, treeNode) }

  /// The root of that tree.
  var branch: Int { uint64(mainLeaf, tree + 40) }

  /// Its second leaf.
  var leaf: Int { child(branch, 1) }

  /// A leaf below the branch with a value on pages of its own, and that node of it.
  var big: (leaf: Int, node: Int, page: Int) {
    for index in 0..<nodeCount(branch) {
      let leaf = child(branch, index)
      for node in 0..<nodeCount(leaf) where flags(leaf, node) == 1 {
        return (leaf, node, uint64(leaf, value(leaf, node)))
      }
    }
    return (0, 0, 0)
  }
}
