@testable import Larder

extension RecordTarget {
  /// Every way to read one record.
  struct Readings {
    let bindings: Bindings

    init(_ bindings: Bindings) { self.bindings = bindings }

    func run(_ bytes: UnsafeRawBufferPointer) {
      skip(bytes)
      readUntyped(bytes)
      readTyped(bytes)
    }

    private func skip(_ bytes: UnsafeRawBufferPointer) {
      guard let start = bytes.baseAddress else { return }
      for place in 0..<min(bytes.count, 16) {
        let end = start + bytes.count
        var reader = ValueReader(start + place, end, binding: bindings.dynamic, depth: 1)
        if (try? reader.skip()) != nil, reader.at > end { broken("skipping stays inside") }
        reader = ValueReader(start + place, end, binding: bindings.dynamic, depth: 1)
        if (try? reader.value()) != nil, reader.at > end { broken("reading stays inside") }
      }
    }

    private func readUntyped(_ bytes: UnsafeRawBufferPointer) {
      guard let document = try? DynamicDocument(record: bytes, binding: bindings.dynamic),
        let once = written(document)
      else { return }
      let again = once.withUnsafeBytes {
        try? DynamicDocument(record: $0, binding: bindings.dynamic)
      }
      guard let again else { broken("a document that was written can be read") }
      if written(again) != once { broken("a document that was read is written as it was") }
    }

    private func written(_ document: DynamicDocument) -> [UInt8]? {
      var writer = RecordWriter(binding: bindings.dynamic)
      let key = UnsafeRawBufferPointer(start: nil, count: 0)
      guard let range = try? writer.putDocument(document, key: key) else { return nil }
      return writer.withBytes { [UInt8]($0[range].dropLast(RecordFormat.checksumByteCount)) }
    }

    private func readTyped(_ bytes: UnsafeRawBufferPointer) {
      if let binding = bindings.earlier {
        _ = try? EarlierEverything(
          from: RecordReader(bytes, binding: binding, schema: binding.root, depth: 1))
      }
      guard let binding = bindings.typed,
        let record = try? RecordReader(bytes, binding: binding, schema: binding.root, depth: 1)
      else { return }
      let document = try? Everything(from: record)
      for condition in Condition.all {
        let evaluation = Evaluation(
          condition.query.selection.filter, order: condition.query.selection.order,
          in: binding.collection)
        let answer = try? evaluation.matches(record)
        _ = try? evaluation.sortValues(record)
        guard let document else { continue }
        guard let answer else { broken("what can be decoded can be filtered: \(condition.query)") }
        if answer != condition.holds(document) {
          broken("a filter and the decoded document agree: \(condition.query)")
        }
      }
    }
  }

  /// A query, and what Swift says of the decoded document.
  private struct Condition: Sendable {
    let query: Query<Everything>
    let holds: @Sendable (Everything) -> Bool

    static let all = [
      Condition(query: Everything.where { $0.text == "é" }) { $0.text == "é" },
      Condition(query: Everything.where { $0.text.hasPrefix("a") }) { $0.text.hasPrefix("a") },
      Condition(query: Everything.where { $0.text.contains("b") }) { $0.text.contains("b") },
      Condition(query: Everything.where { $0.texts.contains("é") }) { $0.texts.contains("é") },
      Condition(query: Everything.where { $0.geo.lat > 5 }) { ($0.geo?.lat ?? 0) > 5 },
      Condition(query: Everything.where { $0.double < 5 }) { $0.double < 5 },
      Condition(query: Everything.where { $0.large < 99 }) { $0.large < 99 },
      Condition(query: Everything.where { $0.maybe == nil }) { $0.maybe == nil },
      Condition(query: Everything.where { $0.isOn }) { $0.isOn },
      Condition(query: Everything.where { $0.numbers.contains(5) }) { $0.numbers.contains(5) },
      Condition(
        query: Everything.all.sorted(by: \.text).sorted(by: \.double).sorted(by: \.decimal)
          .sorted(by: \.date)
      ) { _ in true },
    ]
  }

  /// Merging a record with another one, each as the old one.
  struct Merging {
    let bindings: Bindings

    init(_ bindings: Bindings) { self.bindings = bindings }

    func run(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
      for binding in [bindings.typed, bindings.earlier].compactMap({ $0 }) {
        merge(old: first, new: second, binding)
        merge(old: second, new: first, binding)
      }
    }

    private func merge(
      old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer, _ binding: CollectionBinding
    ) {
      var writer = RecordWriter(binding: binding)
      let key = UnsafeRawBufferPointer(start: nil, count: 0)
      guard let range = try? writer.merge(old: old, new: new, key: key) else { return }
      // A new record is always of the type's own table: it was written a moment before.
      guard isReadable(old, binding), isReadable(new, binding),
        (try? RecordHeader(new).table) == binding.root.table
      else { return }
      writer.withBytes { bytes in
        let merged = UnsafeRawBufferPointer(
          rebasing: bytes[range].dropLast(RecordFormat.checksumByteCount))
        if !isReadable(merged, binding) { broken("two whole records merge into a whole one") }
      }
    }

    private func isReadable(_ bytes: UnsafeRawBufferPointer, _ binding: CollectionBinding) -> Bool {
      (try? DynamicDocument(record: bytes, binding: binding)) != nil
    }
  }
}
