import Foundation
import Larder

// The models of `Models.md`, which shows this file.

@Document
struct Seller: Equatable {
  var id: String
  var name: String
  @Stored(as: "tel") var phone = ""
  @Indexed var city: String
  @Indexed(unique: true) var email: String?
  var tags: [String] = []
  var rank = SellerRank.new
  var address: SellerAddress?
  var hours = OpeningHours.always
  @Transient var isSelected = false

  static let indexes: [Index<Seller>] = [
    Index(\.city, \.name),
    Index(\.address.zip),
    Index(\.name, where: { $0.city == "Oslo" }),
  ]
}

enum SellerRank: Int, Storable {
  case new, known, trusted
}

@EmbeddedDocument
struct SellerAddress: Equatable {
  var street: String
  var zip = ""
}

enum OpeningHours: Codable, Equatable {
  case always
  case between(Int, and: Int)
}

struct Crate: Document, Equatable {
  var number: Int
  var weight = 0.0
  var slot: Slot?
  var state = CrateState.waiting

  var entityAccessorKey: Int { number }

  static let schema = Schema<Crate>(
    "Crate", key: \.number,
    fields: [
      Field("number", \.number),
      Field("kilograms", \.weight, default: 0).indexed().merged(\.weight, by: .max),
      Field("slot", \.slot),
      Field("state", coding: \.state, default: .waiting),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(number, at: 0)
    record.put(weight, at: 1)
    record.put(slot, at: 2)
    record.put(coding: state, at: 3)
  }
}

extension Crate {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      number: try record.get(0), weight: try record.get(1), slot: try record.get(2),
      state: try record.get(coding: 3))
  }
}

struct Slot: EmbeddedDocument, Equatable {
  var shelf: Int

  static let schema = Schema<Slot>("Slot", fields: [Field("shelf", \.shelf)])

  func encode(into record: inout RecordWriter) { record.put(shelf, at: 0) }
}

extension Slot {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(shelf: try record.get(0))
  }
}

enum CrateState: Codable, Equatable {
  case waiting
  case sent(to: String)
}
