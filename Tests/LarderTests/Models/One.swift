import Foundation
import Larder

/// A document with one field of any kind. All of them are one collection, as if the field's
/// type had changed from one version of an app to the next.
struct One<Value: Storable & Sendable>: Document, Identifiable {
  var id: String
  var value: Value

  init(_ value: Value, id: String = "a") {
    self.id = id
    self.value = value
  }

  // Computed, because a generic type cannot have a stored one.
  static var schema: Schema<One> {
    Schema("One", key: \.id, fields: [Field("id", \.id), Field("value", \.value)])
  }

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(value, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    value = try record.get(1)
  }
}

extension One: Equatable where Value: Equatable {}

/// A document that knows nothing but its key, in the collection of ``One``.
struct OnlyKey: Document, Identifiable, Equatable {
  var id: String

  init(id: String = "a") { self.id = id }

  static let schema = Schema<OnlyKey>("One", key: \.id, fields: [Field("id", \.id)])

  func encode(into record: inout RecordWriter) { record.put(id, at: 0) }

  init(from record: borrowing RecordReader) throws(RecordError) { id = try record.get(0) }
}

/// A document under a key of any type.
struct Keyed<Key: DocumentKey & Storable>: Document, Equatable {
  var key: Key
  var note = ""

  init(_ key: Key, note: String = "") {
    self.key = key
    self.note = note
  }

  var entityAccessorKey: Key { key }

  static var schema: Schema<Keyed> {
    Schema("Keyed", key: \.key, fields: [Field("key", \.key), Field("note", \.note)])
  }

  func encode(into record: inout RecordWriter) {
    record.put(key, at: 0)
    record.put(note, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    key = try record.get(0)
    note = try record.get(1)
  }
}
