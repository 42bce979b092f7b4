import CBench
import Foundation

/// The contacts of a workload as files to import: a document in each line, and a table.
struct ImportFiles {
  let documents: Int
  let ndjson: File
  let csv: File

  struct File {
    let path: String
    let byteCount: Int
  }

  /// Writes both files into `folder`.
  init(_ documents: Int, in folder: ScratchFolder) throws {
    self.documents = documents
    let workload = Workload(count: documents, keys: .ordered)
    ndjson = try Self.write(workload, to: folder.path + "/contacts.ndjson", header: "") {
      $0.line
    }
    csv = try Self.write(
      workload, to: folder.path + "/contacts.csv",
      header: "id,name,phone,address,city,order,balance,updatedAt,tags,active,geo.lat,geo.lon,"
        + "geo.label\n"
    ) { $0.row }
  }

  private static func write(
    _ workload: Workload, to path: String, header: String, _ text: (Contact) -> String
  ) throws -> File {
    guard let file = fopen(path, "w") else { throw WrongResult(description: "\(path): no file") }
    var isWritten = fputs(header, file) >= 0
    for index in 0..<workload.count where isWritten {
      isWritten = fputs(text(Contact(workload.raw.pointee.contacts[index])), file) >= 0
    }
    let byteCount = ftell(file)
    guard fclose(file) == 0, isWritten, byteCount > 0 else {
      throw WrongResult(description: "\(path) could not be written")
    }
    return File(path: path, byteCount: byteCount)
  }
}

extension Contact {
  // The texts of the workload have no quotes, backslashes or control characters.

  /// The contact as a line of JSON, as Python's `json.dumps` spaces it.
  fileprivate var line: String {
    let tags = tags.map { "\"\($0)\"" }.joined(separator: ", ")
    let place =
      geo.map { geo in
        let label = geo.label.map { "\"\($0)\"" } ?? "null"
        return "{\"lat\": \(geo.lat), \"lon\": \(geo.lon), \"label\": \(label)}"
      } ?? "null"
    return """
      {"id": "\(id)", "name": "\(name)", "phone": "\(phone)", "address": "\(address)", \
      "city": "\(city)", "order": \(order), "balance": \(balance), "updatedAt": \(updatedAt), \
      "tags": [\(tags)], "active": \(active), "geo": \(place)}

      """
  }

  /// The contact as a row of CSV; tags stand as JSON in their field.
  fileprivate var row: String {
    let tags = tags.map { "\"\"\($0)\"\"" }.joined(separator: ", ")
    let place = geo.map { "\($0.lat),\($0.lon),\($0.label ?? "")" } ?? ",,"
    return """
      \(id),\(name),\(phone),"\(address)",\(city),\(order),\(balance),\(updatedAt),"[\(tags)]",\
      \(active),\(place)

      """
  }
}
