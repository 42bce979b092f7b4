import Foundation
@_spi(Benchmark) import Larder

/// A way to make bytes of contacts and contacts of bytes, without a store. Those of
/// ``CodecTiming/references`` are what all are compared with.
///
/// To take part, make one and add it to ``all(_:)``.
struct Codec {
  /// Short and stable: it names the codec in tables and JSON.
  var name: String
  /// Encodes every contact, and returns how many bytes that made.
  var encode: () throws -> Int
  /// Decodes every contact from what was encoded once beforehand, and returns the sum of their
  /// glances.
  var decode: () throws -> UInt64

  static func all(_ contacts: [Contact]) throws -> [Codec] {
    [
      try json(contacts),
      packed(contacts),
      limit("swift-limit", contacts, isRecord: false),
      limit("swift-limit-record", contacts, isRecord: true),
      try documents("larder-codable-field", contacts.map { ContactField(contact: $0) }) {
        $0.contact.glance
      },
      try documents("larder-codable", contacts.map { CodableDocument($0) }) { $0.model.glance },
      try documents("larder-document", contacts) { $0.glance },
    ]
  }

  private static func json(_ contacts: [Contact]) throws -> Codec {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    let encoded = try contacts.map { try encoder.encode($0) }
    return Codec(
      name: "json",
      encode: {
        var byteCount = 0
        for contact in contacts { byteCount += try encoder.encode(contact).count }
        return byteCount
      },
      decode: {
        var sum: UInt64 = 0
        for data in encoded { sum &+= try decoder.decode(Contact.self, from: data).glance }
        return sum
      })
  }

  /// Whole records, with their checksums.
  private static func documents<Entity: Document>(
    _ name: String, _ documents: [Entity], glance: @escaping (Entity) -> UInt64
  ) throws -> Codec {
    let coding = Coding(try DocumentCoding<Entity>(Array(documents.prefix(100))))
    let records = try documents.map { try coding.value.bytes(of: $0) }
    return Codec(
      name: name,
      encode: {
        try documents.withUnsafeBufferPointer { documents in
          guard let first = documents.baseAddress else { return 0 }
          var byteCount = 0
          for index in documents.indices {
            byteCount += try coding.value.encode(first + index)
          }
          return byteCount
        }
      },
      decode: {
        var sum: UInt64 = 0
        for index in records.indices {
          sum &+= glance(
            try coding.value.decode(records[index], key: documents[index].entityAccessorKey))
        }
        return sum
      })
  }

  /// Shares one coding between two closures.
  private final class Coding<Entity: Document> {
    @exclusivity(unchecked) var value: DocumentCoding<Entity>
    init(_ value: consuming DocumentCoding<Entity>) { self.value = value }
  }
}

/// A contact that is stored as one field, by way of its `Codable`.
private struct ContactField: Document {
  var contact: Contact

  var entityAccessorKey: String { contact.id }

  static let schema = Schema<ContactField>(
    "ContactField", fields: [Field("contact", coding: \.contact)])

  func encode(into record: inout RecordWriter) { record.put(coding: contact, at: 0) }
}

extension ContactField {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(contact: try record.get(coding: 0))
  }
}
