import Foundation
import Testing

@testable import Bookshop

/// Use cases: what each of them starts.
@MainActor @Suite(.timeLimit(.minutes(20))) struct AppServiceTests {
  let journal = Journal()
  let operations: OperationFactoryDouble
  let scenarios: ScenarioFactoryDouble
  let service: BookshopAppService

  init() {
    operations = OperationFactoryDouble(journal, .init())
    scenarios = ScenarioFactoryDouble(journal)
    service = BookshopAppService(
      operations: operations, scenarios: scenarios,
      onQuit: { [journal] in journal.note("", "onQuit") })
  }

  private func line(_ count: Int) async -> [String] {
    while journal.lines.count < count, !Task.isCancelled { await Task.yield() }
    return journal.lines
  }

  @Test("every use case starts one scenario, or one operation")
  func starts() async {
    service.enter()
    #expect(await line(1).last == "ScenarioFactory: enter")
    service.showCatalogue()
    #expect(await line(2).last == "OperationFactory: catalogue")
    service.showBook("a")
    #expect(await line(3).last == "ScenarioFactory: viewBook a")
    #expect(await service.pay())
    #expect(await line(4).last == "ScenarioFactory: pay")
    service.showSettings()
    #expect(await line(5).last == "ScenarioFactory: settings")
    service.open(link: "l")
    #expect(await line(6).last == "ScenarioFactory: openLink l")
    service.quit()
    #expect(await line(7).last == ": onQuit")
  }

  @Test("the use cases are those that are drawn, and lead to each other as it is drawn")
  func drawn() throws {
    let diagram = try #require(Diagram.all("Use cases", of: "Service/Service.md").first)
    var nodes: Set<String> = []
    var dotted: Set<[String]> = []
    for line in diagram.lines {
      let isDotted = line.contains(" -.-> ")
      let sides = line.replacing(" -.-> ", with: " --> ").split(separator: " ")
        .filter { $0 != "-->" }.map { String($0.prefix { $0.isLetter }) }
      nodes.formUnion(sides)
      if isDotted { dotted.insert(sides) }
    }
    let source = try #require(
      SourceFile.all(in: "Service").first { $0.name == "AppService.swift" })
    let face = source.code.components(separatedBy: "\n}")[0]
    let functions = face.components(separatedBy: "func ").dropFirst()
      .map { String($0.prefix { $0.isLetter }) }
    #expect(nodes.subtracting(["reader", "link"]) == Set(functions))

    var led: Set<[String]> = [["showCatalogue", "showBook"], ["showCatalogue", "showSettings"]]
    let scenarios = [
      "enter": ["EnterScenario", "EnterWithOfferScenario", "EnterOpenScenario"],
      "showBook": ["ViewBookScenario", "ViewBookSignedInScenario"],
      "pay": ["PayScenario"], "showSettings": ["SettingsScenario"], "open": ["OpenLinkScenario"],
    ]
    for (useCase, names) in scenarios {
      for name in names {
        for other in try Flowchart(name).useCases { led.insert([useCase, other]) }
      }
    }
    #expect(dotted == led)
  }
}

@MainActor final class ScenarioFactoryDouble: ScenarioFactory {
  let journal: Journal

  init(_ journal: Journal) { self.journal = journal }

  private func scenario<Input, Output>(
    _ name: String, _ output: Output, _ input: @escaping (Input) -> String
  ) -> any Scenario<Input, Output> {
    ScriptedScenario<Input, Output>(output: output) { [journal] in
      journal.note("ScenarioFactory", name + input($0))
    }
  }

  func enter() -> any Scenario<Void, Void> { scenario("enter", ()) { "" } }
  func viewBook() -> any Scenario<Book.ID, Void> { scenario("viewBook", ()) { " \($0)" } }
  func pay() -> any Scenario<Void, Bool> { scenario("pay", true) { "" } }
  func settings() -> any Scenario<Void, Void> { scenario("settings", ()) { "" } }
  func openLink() -> any Scenario<String, Void> { scenario("openLink", ()) { " \($0)" } }
}

private struct ScriptedScenario<Input, Output>: Scenario {
  let output: Output
  let onLaunch: @MainActor (Input) -> Void

  func launch(_ input: Input, _ app: any AppService) async -> Output {
    onLaunch(input)
    return output
  }
}
