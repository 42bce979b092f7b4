/// Answers the compiler's messages, one for one.
struct Plugin {
  /// The newest version of the protocol that is known here. The compiler is told, and keeps to it:
  /// a newer one sends more, which is not read.
  static let protocolVersion = 7
  /// The oldest that will do: since 7 a macro is told which conformances are missing.
  static let oldestCompilerVersion = 7

  /// What the compiler said that it speaks; 0 for one that does not say.
  private var compilerVersion = 0

  mutating func answer(_ message: [UInt8]) -> [UInt8] {
    Array(answer(JSON(message)).text.utf8)
  }

  private mutating func answer(_ message: JSON?) -> JSON {
    guard case .object(let members)? = message, let (kind, content) = members.first else {
      return result(nil, [unknown("a message that is not JSON", at: .nowhere)])
    }
    switch kind {
    case "getCapability":
      compilerVersion = content["capability"]?["protocolVersion"]?.integer ?? 0
      return .object([
        "getCapabilityResult": .object([
          "capability": .object(["protocolVersion": .number(Double(Self.protocolVersion))])
        ])
      ])
    case "expandAttachedMacro":
      return expansion(content)
    case "expandFreestandingMacro":
      let place = Syntax(content["syntax"])?.start ?? .nowhere
      return result(nil, [Diagnostic("Larder has no macro that stands for itself", at: place)])
    case "loadPluginLibrary":
      return .object([
        "loadPluginLibraryResult": .object(["loaded": .bool(false), "diagnostics": .array([])])
      ])
    default:
      return result(nil, [unknown("`\(kind)`", at: .nowhere)])
    }
  }

  private func expansion(_ content: JSON) -> JSON {
    let place =
      Syntax(content["attributeSyntax"])?.start ?? Syntax(content["declSyntax"])?.start
      ?? .nowhere
    guard compilerVersion >= Self.oldestCompilerVersion else {
      return result(nil, [tooOld(at: place)])
    }
    guard let request = ExpansionRequest(content) else {
      return result(nil, [unknown("a request without what it is about", at: place)])
    }
    let answer = request.answer
    return result(answer.source, answer.diagnostics)
  }

  /// What the compiler of that version takes for an answer.
  private func result(_ source: String?, _ diagnostics: [Diagnostic]) -> JSON {
    let diagnostics = JSON.array(diagnostics.map(\.json))
    if compilerVersion < 5 {
      return .object([
        "expandAttachedMacroResult": .object([
          "expandedSources": source.map { .array([.string($0)]) } ?? .null,
          "diagnostics": diagnostics,
        ])
      ])
    }
    return .object([
      "expandMacroResult": .object([
        "expandedSource": source.map(JSON.string) ?? .null, "diagnostics": diagnostics,
      ])
    ])
  }

  private func tooOld(at place: Place) -> Diagnostic {
    Diagnostic(
      """
      this compiler is too old for Larder's macros: it speaks version \(compilerVersion) of the \
      macro protocol, and they need \(Self.oldestCompilerVersion). Update Swift, or write the \
      conformance by hand
      """, at: place)
  }

  private func unknown(_ what: String, at place: Place) -> Diagnostic {
    let reason =
      compilerVersion > Self.protocolVersion
      ? """
      this compiler is newer than Larder's macros: it speaks version \(compilerVersion) of the \
      macro protocol, they know \(Self.protocolVersion). Update Larder
      """
      : "the compiler and Larder's macros do not understand each other. Build again from nothing"
    return Diagnostic(
      "the compiler sent \(what): \(reason), or write the conformance by hand", at: place)
  }
}
