internal import Foundation
internal import Larder
internal import LarderRemote

extension Option {
  /// How fields are merged.
  static let mergeRules: [Option] = [
    Option("counter", takes: "FIELD", repeats: true), Option("set", takes: "FIELD", repeats: true),
    Option("max", takes: "FIELD", repeats: true),
  ]

  static let mergeRulesHelp = """
      --counter FIELD  add up what both sides have added to a number
      --set FIELD      take an array for a set: keep what either side has added
      --max FIELD      keep the larger of two values
    """
}

extension Arguments {
  /// How fields are merged that were changed on both sides.
  ///
  /// - Throws: ``UsageError`` for a field with two rules.
  func mergeRules() throws(UsageError) -> MergeRules {
    var rules: [String: MergeRule] = [:]
    for (name, rule) in [("counter", MergeRule.counter), ("set", .set), ("max", .max)] {
      for field in all(name) where rules.updateValue(rule, forKey: field) != nil {
        throw UsageError("\(field.inQuotes) has two merge rules; give it one")
      }
    }
    return MergeRules(rules)
  }

  /// The server that `--remote` and the token name. Nothing is sent yet.
  ///
  /// - Throws: ``UsageError`` where one of them is missing.
  func remote() throws(UsageError) -> HTTPRemote {
    guard let address = self["remote"] else {
      throw UsageError("which server? Give --remote URL")
    }
    let (url, token) = (try server(address), try token())
    return HTTPRemote(url: url) { _ in token }
  }

  /// The address of a server.
  ///
  /// - Throws: ``UsageError`` for one that is none.
  func server(_ address: String) throws(UsageError) -> URL {
    guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host()?.isEmpty == false
    else {
      throw UsageError("\(address.inQuotes) is no address that begins with https:// or http://")
    }
    return url
  }

  /// The token of `--token`, or else of the environment.
  ///
  /// - Throws: ``UsageError`` where there is none.
  func token() throws(UsageError) -> String {
    let environment = ProcessInfo.processInfo.environment["LARDER_TOKEN"] ?? ""
    guard let token = self["token"] ?? (environment.isEmpty ? nil : environment) else {
      throw UsageError("whose token? Give --token TOKEN, or set LARDER_TOKEN")
    }
    return token
  }

  /// The scopes to follow.
  ///
  /// - Throws: ``UsageError`` where there is none.
  func scopes() throws(UsageError) -> [String] {
    let scopes = all("scope")
    guard !scopes.isEmpty else { throw UsageError("which scope? Give --scope NAME") }
    guard Set(scopes).count == scopes.count else { throw UsageError("a --scope stands twice") }
    return scopes
  }

  /// The collections to sync, with the key fields of those that are new.
  ///
  /// - Parameter known: Those that were synced before, which need not be named again.
  /// - Throws: ``Failure`` where there is none, or one that does not exist has no key field.
  func collections(
    in store: Store, known: [String]
  ) throws -> [(name: String, keyField: String?)] {
    let words = all("collection")
    guard !words.isEmpty else {
      guard known.isEmpty else { return known.map { ($0, nil) } }
      let names = try store.collectionNames()
      throw Failure(
        "which collections? Give --collection NAME for each that the server may see; "
          + (names.isEmpty
            ? "the store has none yet, so give their key fields, too: --collection NAME:FIELD"
            : "the store has \(names.joined(separator: ", "))"))
    }
    return try words.map { word in
      let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let (name, keyField) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
      let stored = try store.collection(name).keyField()
      guard !name.isEmpty, keyField?.isEmpty != true else {
        throw UsageError("--collection takes NAME or NAME:FIELD, and not \(word.inQuotes)")
      }
      guard let field = stored ?? keyField else {
        let suggestion = Spelling.suggestion(name, among: try store.collectionNames())
        throw Failure(
          "the store has no collection \(name.inQuotes)\(suggestion.isEmpty ? ";" : suggestion) to make "
            + "it, give the field that is the key of its documents: --collection \(name):FIELD")
      }
      guard keyField == nil || keyField == field else {
        throw Failure(
          "the key of \(name) is its field \(field.inQuotes); --collection \(name) is enough")
      }
      return (name, field)
    }
  }
}
