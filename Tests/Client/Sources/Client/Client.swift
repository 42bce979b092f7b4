import Foundation
import Larder

@main struct Client {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }  // The system cleans up what stays.
    let store = try Store(at: folder)
    let contacts = store.repository(of: Contact.self)

    let date = Date(timeIntervalSinceReferenceDate: 0)
    let report = try await contacts.save([
      Contact(
        id: "a", name: "Åse", city: "Oslo", order: 4, tags: ["vip"], updatedAt: date,
        geo: Geo(lat: 59.9, lon: 10.7), channel: .mail),
      Contact(id: "b", name: "Bjørn", city: "Oslo", order: 3, updatedAt: date),
      Contact(id: "c", name: "Cecilie", city: "Bergen", updatedAt: date),
    ])
    print(report)

    let query = Contact.where { $0.city == "Oslo" && $0.order < 5 }.sorted(by: \.name).limit(20)
    print(try contacts.fetch(query).map(\.name))
    print(try contacts.count(Contact.where { $0.tags.contains("vip") || $0.name.hasPrefix("Ce") }))
    print(try contacts.fetch(Contact.where { $0.channel == .mail && $0.geo.lat > 50 }).map(\.id))

    let names = try store.read { snapshot in
      try snapshot.fetch(Contact.all.sorted(by: \.order)).map(\.name)
    }
    print(names)

    try await store.write { tx in
      try tx.update(Contact.self, "a") { $0.phone = "22 33 44 55" }
    }
    print(try contacts.get("a")?.phone ?? "none")
    try store.close()
  }
}
