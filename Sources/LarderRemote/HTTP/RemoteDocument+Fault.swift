internal import LarderImport

extension RemoteDocument {
  /// Why the text is no JSON object that can be sent; nil where it is one. Costs one pass.
  package var fault: String? {
    do {
      let root = try JSONMessage(Array(json), name: "the document").root
      return root.isObject ? nil : "the document is \(root.phrase), and has to be an object"
    } catch {
      return "\(error)"
    }
  }
}
