import Foundation
import Larder

/// A document that refers to others.
struct Purchase: Document, Identifiable, Equatable {
  var id: Int
  var contactID: String
  var giftFor: String?
  var helperIDs: [String] = []
  var amount = 0

  static let schema = Schema<Purchase>(
    "Purchase", key: \.id,
    fields: [
      Field("id", \.id), Field("contactID", \.contactID).indexed(), Field("giftFor", \.giftFor),
      Field("helperIDs", \.helperIDs, default: []), Field("amount", \.amount, default: 0),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(contactID, at: 1)
    record.put(giftFor, at: 2)
    record.put(helperIDs, at: 3)
    record.put(amount, at: 4)
  }
}

extension Purchase {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), contactID: try record.get(1), giftFor: try record.get(2),
      helperIDs: try record.get(3), amount: try record.get(4))
  }
}
