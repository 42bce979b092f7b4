import Foundation
import Larder

/// A document that is let go of by its date.
struct Aged: Document, Identifiable, Equatable {
  var id: Int
  var seen: Date
  var text = ""

  static let schema = Schema<Aged>(
    "Aged", key: \.id,
    fields: [Field("id", \.id), Field("seen", \.seen), Field("text", \.text, default: "")])

  static let ageing: [Ageing<Aged>] = [.expires(after: .seconds(86_400 * 365 * 200), since: \.seen)]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(seen, at: 1)
    record.put(text, at: 2)
  }

  init(id: Int, seen: Date, text: String = "") {
    self.id = id
    self.seen = seen
    self.text = text
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    seen = try record.get(1)
    text = try record.get(2)
  }
}
