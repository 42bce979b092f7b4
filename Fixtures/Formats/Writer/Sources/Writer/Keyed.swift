import Foundation
import Larder

/// A document whose key is of any kind: the collection is called after the kind.
struct Keyed<Key: DocumentKey & Storable & Sendable>: Document {
  var key: Key
  var text: String

  var entityAccessorKey: Key { key }

  static var schema: Schema<Keyed> {
    Schema(
      "Keyed \(Key.keyKind)", key: \.key, fields: [Field("key", \.key), Field("text", \.text)])
  }

  func encode(into record: inout RecordWriter) {
    record.put(key, at: 0)
    record.put(text, at: 1)
  }
}

extension Keyed {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(key: try record.get(0), text: try record.get(1))
  }
}
