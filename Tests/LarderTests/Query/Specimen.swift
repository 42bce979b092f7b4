import Foundation
import Larder

/// A document with a field of every kind that a query can look at, and values that hurt.
struct Specimen: Document, Identifiable {
  var id: String
  var name: String
  var note: String?
  var count: Int
  var small: Int8
  var step: Int32?
  var big: UInt64
  var bigger: UInt64?
  var ratio: Double
  var weight: Double?
  var gauge: Float
  var level: Float?
  var price: Decimal
  var cost: Decimal?
  var isOpen: Bool
  var isNew: Bool
  var mark: Bool?
  var made: Date
  var sold: Date?
  var token: UUID
  var parent: UUID?
  var link: URL
  var source: URL?
  var blob: Data
  var digest: Data?
  var tags: [String]
  var numbers: Set<Int>
  var ratios: [Double]
  var remarks: [String?]
  var color: Color
  var rank: Rank
  var shade: Color?
  var base: Site
  var site: Site?
  var labels: [String]?
  var marks: Set<Int>?
  var scores: [String: Int]
  var places: [Place]
  var colors: [Color]
  var grade: Grade
  var lastGrade: Grade?
  var code: Code
  var lastCode: Code?

  enum Color: String, Storable, CaseIterable, Codable {
    case red, green
    case blue = "Blue"
  }
  enum Rank: Int, Storable, CaseIterable, Comparable, Codable {
    case low = -1
    case middle, high

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }
  /// Ordered otherwise than by raw value.
  enum Grade: String, Storable, CaseIterable, Comparable {
    case worst = "m"
    case fair = "z"
    case good = "a"

    static func < (left: Self, right: Self) -> Bool { left.place < right.place }

    var place: Int { self == .worst ? 0 : self == .fair ? 1 : 2 }
  }
  /// Ordered otherwise than by raw value, and of more values than are listed.
  struct Code: RawRepresentable, Storable, Hashable, CaseIterable, Comparable {
    var rawValue: Int

    static let allCases = [Code(rawValue: 1), Code(rawValue: 2)]
    static func < (left: Self, right: Self) -> Bool { left.rawValue > right.rawValue }
  }

  var isHeavy: Bool { (weight ?? 0) > 1 }
  var title: String { name + (note ?? "") }
  var either: any Sendable { isOpen ? name : count }
  var words: [String] { [name] + tags }
  var spots: [Place]? { site.map { [base.place, $0.place] } }
  var total: Int? { tags.isEmpty ? nil : numbers.count + tags.count }

  static let schema = Schema<Specimen>(
    "Specimen", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("note", \.note), Field("n", \.count),
      Field("small", \.small), Field("step", \.step), Field("big", \.big),
      Field("bigger", \.bigger), Field("ratio", \.ratio), Field("weight", \.weight),
      Field("gauge", \.gauge), Field("level", \.level), Field("price", \.price),
      Field("cost", \.cost), Field("open", \.isOpen), Field("new", \.isNew),
      Field("mark", \.mark), Field("made", \.made), Field("sold", \.sold),
      Field("token", \.token), Field("parent", \.parent), Field("link", \.link),
      Field("source", \.source), Field("blob", \.blob), Field("digest", \.digest),
      Field("tags", \.tags), Field("numbers", \.numbers), Field("ratios", \.ratios),
      Field("remarks", \.remarks), Field("color", \.color), Field("rank", \.rank),
      Field("shade", \.shade), Field("base", \.base), Field("site", \.site),
      Field("labels", \.labels), Field("marks", \.marks), Field("scores", \.scores),
      Field("places", \.places), Field("colors", \.colors), Field("grade", \.grade),
      Field("lastGrade", \.lastGrade), Field("code", \.code), Field("lastCode", \.lastCode),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(note, at: 2)
    record.put(count, at: 3)
    record.put(small, at: 4)
    record.put(step, at: 5)
    record.put(big, at: 6)
    record.put(bigger, at: 7)
    record.put(ratio, at: 8)
    record.put(weight, at: 9)
    record.put(gauge, at: 10)
    record.put(level, at: 11)
    record.put(price, at: 12)
    record.put(cost, at: 13)
    record.put(isOpen, at: 14)
    record.put(isNew, at: 15)
    record.put(mark, at: 16)
    record.put(made, at: 17)
    record.put(sold, at: 18)
    record.put(token, at: 19)
    record.put(parent, at: 20)
    record.put(link, at: 21)
    record.put(source, at: 22)
    record.put(blob, at: 23)
    record.put(digest, at: 24)
    record.put(tags, at: 25)
    record.put(numbers, at: 26)
    record.put(ratios, at: 27)
    record.put(remarks, at: 28)
    record.put(color, at: 29)
    record.put(rank, at: 30)
    record.put(shade, at: 31)
    record.put(base, at: 32)
    record.put(site, at: 33)
    record.put(labels, at: 34)
    record.put(marks, at: 35)
    record.put(scores, at: 36)
    record.put(places, at: 37)
    record.put(colors, at: 38)
    record.put(grade, at: 39)
    record.put(lastGrade, at: 40)
    record.put(code, at: 41)
    record.put(lastCode, at: 42)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    name = try record.get(1)
    note = try record.get(2)
    count = try record.get(3)
    small = try record.get(4)
    step = try record.get(5)
    big = try record.get(6)
    bigger = try record.get(7)
    ratio = try record.get(8)
    weight = try record.get(9)
    gauge = try record.get(10)
    level = try record.get(11)
    price = try record.get(12)
    cost = try record.get(13)
    isOpen = try record.get(14)
    isNew = try record.get(15)
    mark = try record.get(16)
    made = try record.get(17)
    sold = try record.get(18)
    token = try record.get(19)
    parent = try record.get(20)
    link = try record.get(21)
    source = try record.get(22)
    blob = try record.get(23)
    digest = try record.get(24)
    tags = try record.get(25)
    numbers = try record.get(26)
    ratios = try record.get(27)
    remarks = try record.get(28)
    color = try record.get(29)
    rank = try record.get(30)
    shade = try record.get(31)
    base = try record.get(32)
    site = try record.get(33)
    labels = try record.get(34)
    marks = try record.get(35)
    scores = try record.get(36)
    places = try record.get(37)
    colors = try record.get(38)
    grade = try record.get(39)
    lastGrade = try record.get(40)
    code = try record.get(41)
    lastCode = try record.get(42)
  }
}

/// What a specimen was found at; its own fields may be nil and hold documents too.
struct Site: EmbeddedDocument {
  var lat: Double
  var label: String
  var visits: Int
  var alias: String?
  var place: Place

  var isNorth: Bool { lat > 0 }

  static let schema = Schema<Site>(
    "Site",
    fields: [
      Field("lat", \.lat), Field("label", \.label), Field("visits", \.visits),
      Field("alias", \.alias), Field("place", \.place),
    ])

  init(lat: Double, label: String, visits: Int, alias: String?, place: Place) {
    self.lat = lat
    self.label = label
    self.visits = visits
    self.alias = alias
    self.place = place
  }

  func encode(into record: inout RecordWriter) {
    record.put(lat, at: 0)
    record.put(label, at: 1)
    record.put(visits, at: 2)
    record.put(alias, at: 3)
    record.put(place, at: 4)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    lat = try record.get(0)
    label = try record.get(1)
    visits = try record.get(2)
    alias = try record.get(3)
    place = try record.get(4)
  }
}

struct Place: EmbeddedDocument {
  var code: Int
  var word: String

  var isEven: Bool { code % 2 == 0 }

  static let schema = Schema<Place>(
    "Place", fields: [Field("code", \.code), Field("word", \.word)])

  init(code: Int, word: String) {
    self.code = code
    self.word = word
  }

  func encode(into record: inout RecordWriter) {
    record.put(code, at: 0)
    record.put(word, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    code = try record.get(0)
    word = try record.get(1)
  }
}
