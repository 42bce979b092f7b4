import Foundation
import Testing

@testable import Bookshop

/// What the four nouns may know of each other, read from the source: no type can hold it.
struct HouseRuleTests {
  static let folders = ["Service", "Operation", "Scenario", "Router"]
  static let services: Set<String> = [
    "Storage", "AuthService", "PaymentService", "CatalogueService", "SyncService", "Router",
    "AppService",
  ]

  @Test("operations have no branches and no loops")
  func operationsAreStraight() throws {
    let operations = try operationBodies()
    #expect(operations.count == 14)
    for (name, body) in operations {
      for word in ["if", "guard", "switch", "for", "while", "repeat", "catch"] {
        #expect(!words(body).contains(word), "\(name) has a branch: \(word)")
      }
      for sign in [" ? ", " ?? ", " && ", " || "] {
        #expect(!body.contains(sign), "\(name) has a branch: \(sign)")
      }
    }
  }

  @Test("operations know no other operation, no factory and no scenario")
  func operationsAreAlone() throws {
    let operations = try operationBodies()
    let names = Set(operations.map(\.name))
    for (name, body) in operations where name != "MakeServicesOp" {
      let known = words(body)
      #expect(known.intersection(names).subtracting([name]).isEmpty)
      #expect(!known.contains("OperationFactory"))
      #expect(!known.contains("ScenarioFactory"))
    }
  }

  @Test("scenarios see the operation factory and the app service, and no other service")
  func scenariosAreGood() throws {
    for file in try SourceFile.all(in: "Scenario") where file.name != "Scenario.swift" {
      for (name, body) in file.types where name.hasSuffix("Scenario") {
        let known = words(body)
        #expect(known.intersection(Self.services) == ["AppService"], "\(name)")
        #expect(!known.contains("Services"))
        #expect(SourceFile.dependencies(in: body) == ["OperationFactory"], "\(name)")
      }
    }
  }

  @Test("only the router knows screens and terminals, and no view model makes operations")
  func onlyRouterKnowsScreens() throws {
    for file in try ["Service", "Operation", "Scenario"].flatMap(SourceFile.all(in:)) {
      for word in ["Terminal", "TerminalRouter", "RemoteControlRouter", "ScreenStack", "Key"] {
        #expect(!file.words.contains(word), "\(file.name) knows \(word)")
      }
      // The one file that gives products their names.
      if file.name != "Products.swift" {
        #expect(!file.words.contains("Product"), "\(file.name) knows the product")
      }
      if file.name.hasPrefix("ViewModel/") {
        #expect(!file.words.contains("OperationFactory"))
        #expect(!file.words.contains("AppService"))
      }
    }
  }

  @Test("routers know view models by their interfaces alone")
  func routersKnowInterfaces() throws {
    let files = try SourceFile.all(in: "Service").filter { $0.name.hasPrefix("ViewModel/") }
    let classes = files.flatMap(\.types).map(\.name).filter { $0.hasSuffix("ViewModel") }
    #expect(classes.count == 6)
    for file in try SourceFile.all(in: "Router") {
      #expect(file.words.isDisjoint(with: classes), "\(file.name)")
    }
  }

  @Test("services keep their documents in repositories, and do not know what these rest on")
  func servicesHoldRepositories() throws {
    for file in try SourceFile.all(in: "Service") where file.name != "BookImporter.swift" {
      for word in ["Store", "StoreRepository", "StoredRepository", "InMemoryRepository"] {
        #expect(!file.words.contains(word), "\(file.name) knows \(word)")
      }
    }
  }

  @Test("services need what the services diagram says, and implement what it says")
  func servicesDiagram() throws {
    let diagram = try #require(Diagram.all("Services", of: "Service/Service.md").first)
    var needs: [String: Set<String>] = [:]
    var faces: Set<[String]> = []
    for line in diagram.lines {
      let words = line.split(separator: " ").map(String.init)
      try #require(words.count == 3, "no arrow: \(line)")
      if words[1] == "-->" { needs[words[0], default: []].insert(words[2]) }
      if words[1].hasPrefix("<|") { faces.insert([words[2], words[0]]) }
    }
    let files = try Self.folders.flatMap(SourceFile.all(in:))
    let known = Set(needs.values.joined())
    for (name, body) in files.flatMap(\.types)
    where !name.hasSuffix("Op") && !name.hasSuffix("Scenario") && name != "Services" {
      let found = SourceFile.dependencies(in: body).intersection(known)
      #expect(found == needs[name] ?? [], "\(name)")
    }
    let drawn = Set(faces.map { $0[1] })
    var found: Set<[String]> = []
    for file in files {
      for line in file.code.split(separator: "\n") where !line.hasPrefix(" ") {
        let words = line.split { !($0.isLetter || $0.isNumber) }.map(String.init)
        guard let index = words.firstIndex(where: { ["class", "struct", "actor"].contains($0) })
        else { continue }
        for face in words.dropFirst(index + 2) where drawn.contains(face) {
          found.insert([words[index + 1], face])
        }
      }
    }
    #expect(found == faces)
  }

  @Test("everything is made by whom it is drawn to be made by")
  func creation() throws {
    let services = try #require(Diagram.all("Services", of: "Service/Service.md").first)
    let drawn = try Set(Diagram.creations().map { [$0.creator, $0.made] })
    let files = try Self.folders.flatMap(SourceFile.all(in:)) + SourceFile.top()
    // Services, operations, scenarios and factories, and what is drawn besides them.
    let made = Set(files.flatMap(\.types).map(\.name))
      .filter { $0.hasSuffix("Op") || $0.hasSuffix("Scenario") }
      .union(
        services.lines.filter { $0.contains("<|") }
          .compactMap { $0.split(separator: " ").last.map(String.init) }
      )
      .union(drawn.map { $0[1] })
    var found: Set<[String]> = []
    for (name, body) in files.flatMap({ $0.types + $0.enums }) {
      for word in SourceFile.calls(in: body) where made.contains(word) {
        found.insert([name, word])
      }
    }
    #expect(found == drawn)
  }

  private func operationBodies() throws -> [(name: String, body: String)] {
    try SourceFile.all(in: "Operation").flatMap(\.types).filter { $0.name.hasSuffix("Op") }
  }

  private func words(_ code: String) -> Set<String> { SourceFile(name: "", code: code).words }
}
