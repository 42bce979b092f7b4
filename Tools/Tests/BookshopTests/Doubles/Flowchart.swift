import Foundation
import Testing

/// An operations diagram: squares are operations, rounded boxes use cases of the app.
struct Flowchart {
  struct Way: Hashable {
    var steps: [String] = []
    var conditions: Set<String> = []
  }

  private var nodes: [String: String] = [:]
  private var arrows: [(from: String, condition: String, to: String)] = []

  init(_ heading: String) throws {
    let diagram = try #require(Diagram.all(heading, of: "Scenario/Scenario.md").first)
    for line in diagram.lines {
      let sides = line.components(separatedBy: " -->")
      try #require(sides.count == 2, "not an arrow: \(line)")
      var right = sides[1]
      var condition = ""
      if right.hasPrefix("|") {
        let parts = right.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: true)
        condition = String(parts[0])
        right = String(parts[1])
      }
      arrows.append((node(sides[0]), condition, node(right)))
    }
  }

  /// Notes what a node is, and returns its name.
  private mutating func node(_ text: String) -> String {
    let text = text.trimmingCharacters(in: .whitespaces)
    let name = String(text.prefix { $0.isLetter })
    let shape = text.dropFirst(name.count)
    if shape.hasPrefix("([") {
      nodes[name] = ""
    } else if shape.hasPrefix("[") {
      nodes[name] = "OperationFactory: " + shape.dropFirst().dropLast()
    } else if shape.hasPrefix("(") {
      nodes[name] = "AppService: " + shape.dropFirst().dropLast()
    }
    return name
  }

  /// The rounded boxes.
  var useCases: Set<String> {
    Set(nodes.values.filter { $0.hasPrefix("AppService: ") }.map { String($0.dropFirst(12)) })
  }

  /// From the start to the stop.
  var ways: [Way] { ways(from: "start", Way()) }

  private func ways(from name: String, _ way: Way) -> [Way] {
    var way = way
    if let step = nodes[name], !step.isEmpty { way.steps.append(step) }
    if name == "stop" { return [way] }
    return arrows.filter { $0.from == name }.flatMap { arrow -> [Way] in
      var next = way
      for word in arrow.condition.components(separatedBy: ", ") where !word.isEmpty {
        next.conditions.insert(word)
      }
      // Nobody is both; such a way is none.
      if next.conditions.isSuperset(of: ["signed in", "signed out"]) { return [] }
      return ways(from: arrow.to, next)
    }
  }
}
