import Foundation

/// The disk under a folder, as far as POSIX promises anything of it.
///
/// What was written to a file is there for sure once the file was synced, or the write went through
/// to the disk; a name, once its folder was synced. Of everything else any part may have reached the
/// disk, in any order, and of a write some sectors; but what was done to one name or to one file's
/// names keeps its order, and a rename happens whole.
final class PowerDisk {
  private let record: Data
  private let root = Node(isFolder: true)
  private var files: [UInt64: Node] = [:]
  /// Changes of names that no sync has covered, in their order.
  private var namings: [Naming] = []
  private var time = 0

  init(_ record: Data) { self.record = record }

  /// A file or a folder; which names it has is said by folders.
  private final class Node {
    let isFolder: Bool
    /// By name, as programs see it now.
    var live: [String: Node] = [:]
    /// By name, as it is on the disk for sure.
    var durable: [String: Node] = [:]
    /// On the disk for sure.
    var bytes: [UInt8] = []
    /// In their order, the first of which is not on the disk for sure.
    var changes: [Change] = []

    init(isFolder: Bool) { self.isFolder = isFolder }
  }

  private struct Change {
    let time: Int
    let place: Int
    /// In the record; nil where the file's size was changed to `place`.
    let bytes: Range<Int>?
    var isDurable = false
  }

  private struct Naming {
    let time: Int
    let effects: [(folder: Node, name: String, node: Node?)]

    /// Whether it must have happened where `other`, which came later, has.
    func precedes(_ other: Naming) -> Bool {
      effects.contains { mine in
        other.effects.contains { theirs in
          (mine.folder === theirs.folder && mine.name == theirs.name)
            || (mine.node != nil && mine.node === theirs.node)
        }
      }
    }

    func touches(_ folder: Node) -> Bool { effects.contains { $0.folder === folder } }
  }
}

// MARK: - What happens to it

extension PowerDisk {
  func apply(_ event: PowerRecord.Event) throws {
    time += 1
    switch event {
    case .created(let path, let file):
      let node = Node(isFolder: false)
      files[file] = node
      try name([(path, node)])
    case .opened(let path, let file): files[file] = try node(path)
    case .madeFolder(let path): try name([(path, Node(isFolder: true))])
    case .removed(let path): try name([(path, nil)])
    case .renamed(let from, let to): try name([(from, nil), (to, try node(from))])
    case .exchanged(let one, let other): try name([(one, try node(other)), (other, try node(one))])
    case .wrote(let file, let place, let bytes):
      try changed(file, Change(time: time, place: place, bytes: bytes))
    case .resized(let file, let byteCount):
      try changed(file, Change(time: time, place: byteCount, bytes: nil))
    case .settled(let file): try settle(file) { $0.changes[$0.changes.count - 1].isDurable = true }
    case .synced(let file):
      try settle(file) { for index in $0.changes.indices { $0.changes[index].isDurable = true } }
    case .syncedFolder(let path): try sync(node(path))
    case .marked: break
    }
  }

  private func file(_ number: UInt64) throws -> Node {
    guard let node = files[number] else {
      throw PowerRecord.Unreadable(description: "a file that was never opened is written")
    }
    return node
  }

  private func node(_ path: String) throws -> Node {
    var node = root
    for name in path.split(separator: "/") {
      guard let next = node.live[String(name)] else {
        throw PowerRecord.Unreadable(description: "\(path) is used, and was never made")
      }
      node = next
    }
    return node
  }

  private func name(_ changes: [(path: String, node: Node?)]) throws {
    let effects = try changes.map { path, node in
      let names = path.split(separator: "/")
      let folder = try self.node(names.dropLast().joined(separator: "/"))
      return (folder: folder, name: names.last.map(String.init) ?? "", node: node)
    }
    for effect in effects { effect.folder.live[effect.name] = effect.node }
    namings.append(Naming(time: time, effects: effects))
  }

  private func changed(_ file: UInt64, _ change: Change) throws {
    try self.file(file).changes.append(change)
  }

  /// Makes changes durable, and forgets those that nothing uncertain stands before.
  private func settle(_ file: UInt64, _ mark: (Node) -> Void) throws {
    let node = try self.file(file)
    mark(node)
    let settled = node.changes.prefix { $0.isDurable }
    for change in settled { write(change, to: &node.bytes) { _ in true } }
    node.changes.removeFirst(settled.count)
  }

  private func sync(_ folder: Node) {
    let settled = withPredecessors(namings.indices.filter { namings[$0].touches(folder) })
    for index in settled.sorted() {
      for effect in namings[index].effects { effect.folder.durable[effect.name] = effect.node }
    }
    namings = namings.indices.filter { !settled.contains($0) }.map { namings[$0] }
  }

  private func withPredecessors(_ chosen: [Int]) -> Set<Int> {
    var all = Set(chosen)
    for index in namings.indices.reversed() where !all.contains(index) {
      if all.contains(where: { $0 > index && namings[index].precedes(namings[$0]) }) {
        all.insert(index)
      }
    }
    return all
  }
}

// MARK: - What is left of it

extension PowerDisk {
  /// Every file that can be found after the power went now, by its path; folders without bytes.
  func image(_ survival: inout Survival) -> [(path: String, bytes: [UInt8]?)] {
    let pending = namings.map(\.time) + files.values.flatMap { $0.changes.map(\.time) }
    survival.prepare(pending)
    let chosen = withPredecessors(namings.indices.filter { survival.keeps(namings[$0].time) })
    var names: [ObjectIdentifier: [String: Node]] = [:]
    for index in chosen.sorted() {
      for effect in namings[index].effects {
        names[ObjectIdentifier(effect.folder), default: effect.folder.durable][effect.name] =
          effect.node
      }
    }
    var found: [(path: String, bytes: [UInt8]?)] = []
    func walk(_ folder: Node, _ prefix: String) {
      let entries = names[ObjectIdentifier(folder)] ?? folder.durable
      for (name, node) in entries.sorted(by: { $0.key < $1.key }) {
        found.append((prefix + name, node.isFolder ? nil : bytes(of: node, &survival)))
        if node.isFolder { walk(node, prefix + name + "/") }
      }
    }
    walk(root, "")
    return found
  }

  private func bytes(of node: Node, _ survival: inout Survival) -> [UInt8] {
    var bytes = node.bytes
    for change in node.changes {
      if change.isDurable {
        write(change, to: &bytes) { _ in true }
      } else if survival.keeps(change.time) {
        let tear = survival.tear()
        write(change, to: &bytes, sectorByteCount: tear) { _ in
          tear == nil || survival.keepsSector()
        }
      }
    }
    return bytes
  }

  /// Writes what `keeps` says, sector by sector where there is a size of one.
  private func write(
    _ change: Change, to bytes: inout [UInt8], sectorByteCount: Int? = nil,
    keeps: (Int) -> Bool
  ) {
    guard let range = change.bytes else {
      let byteCount = change.place
      if byteCount < bytes.count { bytes.removeLast(bytes.count - byteCount) }
      bytes.append(contentsOf: repeatElement(0, count: byteCount - bytes.count))
      return
    }
    let size = sectorByteCount ?? range.count
    var done = 0
    while done < range.count {
      let place = change.place + done
      let count = min(range.count - done, size - place % size)
      let step = sectorByteCount == nil ? range.count : count
      if keeps(place) {
        if bytes.count < place + step {
          bytes.append(contentsOf: repeatElement(0, count: place + step - bytes.count))
        }
        bytes.withUnsafeMutableBytes { target in
          record.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: target[place..<place + step]).copyMemory(
              from: UnsafeRawBufferPointer(
                rebasing: source[range.lowerBound + done..<range.lowerBound + done + step]))
          }
        }
      }
      done += step
    }
  }
}
