import Foundation
import Testing

/// A message diagram: `->>` is a message, `-->>` an answer to one.
struct MessageDiagram: CustomTestStringConvertible, Sendable {
  struct Arrow: Equatable {
    let from: String
    let to: String
    let text: String
    let isAnswer: Bool
  }

  let operation: String
  let index: Int
  let arrows: [Arrow]

  var testDescription: String { "\(operation) \(index + 1)" }

  init(operation: String, index: Int, _ diagram: Diagram) {
    self.operation = operation
    self.index = index
    arrows = diagram.lines.compactMap { line in
      let isAnswer = line.contains("-->>")
      let sides = line.components(separatedBy: isAnswer ? "-->>" : "->>")
      guard sides.count == 2, let colon = sides[1].range(of: ": ") else { return nil }
      return Arrow(
        from: sides[0], to: String(sides[1][..<colon.lowerBound]),
        text: String(sides[1][colon.upperBound...]), isAnswer: isAnswer)
    }
  }

  /// All of a page, for the arguments of a test.
  static func all(of path: String) -> [MessageDiagram] {
    // A page that cannot be read gives no arguments, which `drawn` finds out.
    ((try? Diagram.headings(of: path)) ?? []).flatMap { heading in
      ((try? Diagram.all(heading, of: path)) ?? []).enumerated().map { index, diagram in
        MessageDiagram(operation: heading, index: index, diagram)
      }
    }
  }

  /// What the operation is launched with.
  var input: String? { arrows.first { $0.to == operation }?.text }
  /// What it returns.
  var output: String? { arrows.first { $0.from == operation && $0.isAnswer }?.text }

  /// The messages, without the launch of the operation itself: receiver and text.
  var messages: [String] {
    arrows.filter { !$0.isAnswer && $0.to != operation }.map { "\($0.to): \($0.text)" }
  }

  /// Each message to a service, with what the service answers.
  var answers: [(receiver: String, message: String, answer: String?)] {
    arrows.indices.filter { !arrows[$0].isAnswer }.map { index in
      let next = arrows.dropFirst(index + 1).first
      let isAnswered = next?.isAnswer == true && next?.from == arrows[index].to
      return (arrows[index].to, arrows[index].text, isAnswered ? next?.text : nil)
    }
  }
}
