internal import Larder
internal import LarderImport

enum StatCommand: Command {
  static let name = "stat"
  static let summary = "print what is in a store, and how big it is"
  static let help = """
    larder stat --store DIR

    Prints the collections with their documents, bytes, tree depth, fields and indexes, then the store's
    file, how much of it is in use, its free pages, the log of changes, its quota and its map (the
    size that the file may grow to), its readers and the number of the last change.

      --json       the same as one JSON object
      --store DIR  the store's folder; else the environment's LARDER_STORE

    Examples:
      larder stat --store ./data
      larder stat --json --store ./data

    Exit codes: 0 printed, 1 failure, 2 wrong usage.
    """
  static let options: [Option] = [.store, Option("json")]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    let statistics = try arguments.storeToRead().statistics()
    if arguments.has("json") {
      try Console.print(JSONOutput.text(of: .document(document(statistics)), pretty: true))
    } else {
      for line in lines(statistics) { try Console.print(line) }
    }
    return .success
  }

  private static func lines(_ statistics: StoreStatistics) -> [String] {
    var collections = Table(
      ("COLLECTION", .left), ("DOCUMENTS", .right), ("BYTES", .right), ("DEPTH", .right))
    for collection in statistics.collections {
      collections.add(
        collection.name, Console.number(collection.documentCount),
        Console.number(collection.byteCount), Console.number(collection.depth))
    }
    var fields = Table(("COLLECTION", .left), ("FIELD", .left), ("KIND", .left))
    for collection in statistics.collections {
      for field in collection.fields { fields.add(collection.name, field.name, field.kind) }
    }
    var indexes = Table(
      ("COLLECTION", .left), ("INDEX", .left), ("ENTRIES", .right), ("BYTES", .right),
      ("STATE", .left))
    for collection in statistics.collections {
      for index in collection.indexes {
        indexes.add(
          collection.name, "\(index.name)\(index.isUnique ? " unique" : "")",
          Console.number(index.entryCount), Console.number(index.byteCount), text(index.state))
      }
    }
    let hasIndexes = statistics.collections.contains { !$0.indexes.isEmpty }
    var store = Table(("STORE", .left), ("", .right), ("", .left))
    store.add("file", Console.number(statistics.fileByteCount), "bytes")
    store.add("used", Console.number(statistics.usedByteCount), "bytes")
    store.add("free", Console.number(statistics.freeByteCount), "bytes")
    store.add("log", Console.number(statistics.logByteCount), "bytes")
    if statistics.syncByteCount > 0 {
      store.add("sync", Console.number(statistics.syncByteCount), "bytes")
    }
    store.add("quota", Console.number(statistics.quotaByteCount), "bytes")
    store.add("map", Console.number(statistics.mapByteCount), "bytes")
    store.add(
      "readers", Console.number(statistics.readerCount),
      "of \(Console.number(statistics.maximumReaderCount))")
    store.add("sequence", Console.number(Int(clamping: statistics.sequence)), "")
    guard !statistics.collections.isEmpty else { return ["no collections", ""] + store.lines }
    return collections.lines + [""] + fields.lines + [""]
      + (hasIndexes ? indexes.lines + [""] : []) + store.lines
  }

  private static func text(_ state: IndexDescription.State) -> String {
    switch state {
    case .building: "building"
    case .complete: "complete"
    case .failed(let reason): "failed: \(reason)"
    }
  }

  private static func document(_ statistics: StoreStatistics) -> DynamicDocument {
    let collections = statistics.collections.map { collection in
      Value.document([
        "name": .string(collection.name), "documents": integer(collection.documentCount),
        "bytes": integer(collection.byteCount), "depth": integer(collection.depth),
        "fields": .array(
          collection.fields.map {
            .document(["name": .string($0.name), "kind": .string($0.kind)])
          }),
        "indexes": .array(
          collection.indexes.map {
            .document([
              "name": .string($0.name), "fields": .array($0.fields.map { .string($0) }),
              "unique": .bool($0.isUnique), "entries": integer($0.entryCount),
              "bytes": integer($0.byteCount), "state": .string(text($0.state)),
            ])
          }),
      ])
    }
    return [
      "collections": .array(collections), "fileBytes": integer(statistics.fileByteCount),
      "usedBytes": integer(statistics.usedByteCount),
      "logBytes": integer(statistics.logByteCount),
      "syncBytes": integer(statistics.syncByteCount),
      "quotaBytes": integer(statistics.quotaByteCount),
      "freeBytes": integer(statistics.freeByteCount), "mapBytes": integer(statistics.mapByteCount),
      "pageBytes": integer(statistics.pageByteCount), "readers": integer(statistics.readerCount),
      "maximumReaderCount": integer(statistics.maximumReaderCount),
      "sequence": integer(Int(clamping: statistics.sequence)),
    ]
  }

  private static func integer(_ number: Int) -> Value { .integer(Int64(number)) }
}
