import Foundation
import Testing

@testable import Bookshop

struct ListingTests {
  @Test(
    "rubbish of a server is refused with its reason",
    arguments: [
      ("", "it is no JSON"), ("<html>", "it is no JSON"), ("[", "it is no JSON"),
      ("{}", "it is of another kind"), ("[]", "it has no books"), ("null", "it is no JSON"),
      ("[7]", "Index 0 is of another kind"),
      (#"[{"id":"a"}]"#, "a book has no title"),
      (
        #"[{"id":"a","title":1,"author":"","price":1,"year":1,"genre":"","blurb":""}]"#,
        "Index 0.title is of another kind"
      ),
      (
        #"[{"id":"","title":"","author":"","price":1,"year":1,"genre":"","blurb":""}]"#,
        "a book has no id that can be one"
      ),
    ])
  func rubbish(_ text: String, _ reason: String) {
    #expect(throws: ServerError.rubbish(reason)) { try Listing.decode(Data(text.utf8)) }
  }
}
