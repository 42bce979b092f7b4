import Foundation

/// What a macro expands to.
struct Expansion: Equatable {
  struct Problem: Equatable, CustomStringConvertible {
    let message: String
    let severity: String
    let file: String
    let offset: Int
    /// Messages and offsets.
    let notes: [String]

    var description: String { "\(severity) at \(offset): \(message)" }
  }

  let source: String?
  let problems: [Problem]
}

extension MacroPlugin {
  /// Expands a macro at the declaration in `source`, which stands at byte 1000 of `/a/é.swift`.
  ///
  /// - Parameters:
  ///   - missing: The conformances that the type does not have; nil for what the macro adds.
  ///   - context: The types around it, the innermost first.
  func expand(
    _ macro: String = "Document", role: String = "extension", at source: String,
    extending type: String = "Contact", missing: [String]? = nil, in context: [String] = []
  ) throws -> Expansion {
    func syntax(_ kind: String, _ text: String, isSomewhere: Bool) -> [String: Any] {
      let location: [String: Any] = [
        "fileID": "A/é.swift", "fileName": isSomewhere ? "/a/é.swift" : "", "line": 40, "column": 3,
        "offset": isSomewhere ? 1000 : 0,
      ]
      return ["kind": kind, "source": text, "location": location]
    }
    let conformances = (missing ?? [macro]).joined(separator: ", ")
    let message: [String: Any] = [
      "macro": ["moduleName": "LarderMacros", "typeName": macro, "name": macro],
      "macroRole": role, "discriminator": "$s1A",
      "staticBuildConfiguration": "{\"a\":[\"\\u00e9\"]}",
      "attributeSyntax": syntax("attribute", "@\(macro)", isSomewhere: true),
      "declSyntax": syntax("declaration", source, isSomewhere: true),
      "extendedTypeSyntax": syntax("type", type, isSomewhere: false),
      "conformanceListSyntax": syntax(
        "declaration",
        conformances.isEmpty ? "struct Placeholder {}" : "struct Placeholder: \(conformances) {}",
        isSomewhere: false),
      "lexicalContext": context.map { syntax("declaration", $0, isSomewhere: false) },
    ]
    let json = try JSONSerialization.data(withJSONObject: ["expandAttachedMacro": message])
    return try Expansion(answer: try send(bytes: json))
  }
}

extension Expansion {
  /// Reads an answer, as strictly as the compiler does.
  init(answer: String) throws {
    let json = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
    guard let json, json.count == 1, let result = json["expandMacroResult"] as? [String: Any],
      let problems = result["diagnostics"] as? [[String: Any]]
    else { throw MacroPlugin.Failed(description: "no expansion: \(answer)") }
    source = result["expandedSource"] as? String
    self.problems = try problems.map { problem in
      guard let message = problem["message"] as? String,
        let severity = problem["severity"] as? String,
        let place = problem["position"] as? [String: Any], let file = place["fileName"] as? String,
        let offset = place["offset"] as? Int, problem["highlights"] is [Any],
        problem["fixIts"] is [Any], let notes = problem["notes"] as? [[String: Any]]
      else { throw MacroPlugin.Failed(description: "no diagnostic: \(problem)") }
      return Problem(
        message: message, severity: severity, file: file, offset: offset,
        notes: notes.map { note in
          let place = note["position"] as? [String: Any]
          return "\(note["message"] ?? "") at \(place?["offset"] ?? "")"
        })
    }
  }
}
