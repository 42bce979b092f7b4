import Foundation
import Larder

enum Channel: String, Codable {
  case mail, phone, unknown
}

@EmbeddedDocument
struct Geo: Equatable {
  var lat: Double
  var lon: Double
}

@Document
struct Contact: Equatable, Identifiable {
  var id: String
  var name: String
  @Stored(as: "tel") var phone = ""
  @Indexed var city: String
  @Indexed var order = 0
  @Indexed var tags: [String] = []
  var updatedAt: Date
  var geo: Geo?
  var channel = Channel.unknown
  @Transient var isSelected = false

  static let indexes: [Index<Contact>] = [Index(\.city, \.order)]
}
