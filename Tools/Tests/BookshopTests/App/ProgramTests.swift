import Foundation
import Larder
import Testing

@testable import Bookshop

extension WholeAppTests {
  /// The built program, as a person or a script starts it.
  @MainActor @Suite(.timeLimit(.minutes(20))) struct ProgramTests {
    @Test("a script drives the program through its standard input and output")
    func script() async throws {
      try await withStoreFolder { folder in
        let lines = try await Program.run(
          ["--store", folder.path(percentEncoded: false), "--books", fixture("books.json")],
          [
            #"{"do": "wait", "text": "onboarding"}"#, #"{"do": "next"}"#, #"{"do": "next"}"#,
            #"{"do": "next"}"#, #"{"do": "wait", "text": "catalogue", "number": 60}"#,
            #"{"do": "quit"}"#,
          ])
        #expect(lines.status == 0)
        #expect(lines.events.last?.screen?.books?.count == 60)
        #expect(lines.events.map(\.event).contains("refused") == false)
      }
    }

    @Test("arguments that mean nothing are refused with the usage")
    func usage() async throws {
      for arguments in [[], ["--store"], ["--stor", "x"], ["--store", "x", "--product", "y"]] {
        let outcome = try await Program.run(arguments, [])
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("usage: bookshop"))
      }
      let outcome = try await Program.run(["--store", "/no/such/folder/store"], [])
      #expect(outcome.status == 1)
      #expect(outcome.errors.hasPrefix("bookshop: "))
    }

    @Test("what a second terminal changes is seen in the first while it is looked at")
    func secondTerminal() async throws {
      try await withStoreFolder { folder in
        let app = try TestApp(in: folder, product: .open, fixture: fixture("books.json"))
        await app.passOnboarding()
        await app.waitForBooks()
        let id = try #require(await app.screen?.books?.first?.id)
        await app.perform("open", id)
        await app.signIn()
        await app.pay()
        await app.wait(for: "book")

        let other = try await Program.run(
          ["--store", folder.path(percentEncoded: false)],
          [
            #"{"do": "wait", "text": "catalogue"}"#, #"{"do": "open", "text": "\#(id)"}"#,
            #"{"do": "wait", "text": "book"}"#, #"{"do": "rate", "number": 2}"#,
            #"{"do": "basket"}"#, #"{"do": "quit"}"#,
          ])

        #expect(other.status == 0)
        await app.wait { $0.book?.rating == 2 && $0.book?.isInBasket == true }
        await app.perform("back")
        await app.wait { $0.basketCount == 1 }
      }
    }

    @Test(
      "in a terminal",
      arguments: [
        ("tour", "the program draws, hears keys, follows the size, and leaves all as it was"),
        ("first_start", "the first screen is there before the books, which follow"),
        ("quit_while_importing", "a reader who leaves meanwhile finds the books the next time"),
        ("tiny", "no window is too small, and one that grows again shows all again"),
        ("killed", "what a killed program was told, the next one knows"),
      ])
    func terminal(_ story: String, _ fact: String) async throws {
      try await withStoreFolder { folder in
        // A folder's path ends with a slash, and the pipe lies beside it.
        let store = String(folder.path(percentEncoded: false).dropLast())
        let outcome = try await Program.runInTerminal(
          story, store: store, books: fixture("books.json"))
        #expect(outcome == "ok\n", "\(fact): \(outcome)")
      }
    }

    @Test("who asks for help gets it, and an app without a terminal says what to do")
    func help() async throws {
      let help = try await Program.plain(["--help"])
      #expect(help.status == 0)
      #expect(help.output.hasPrefix("usage: bookshop"))
      let piped = try await Program.plain(["--store", "/no/such/folder/store"])
      #expect(piped.status == 1)
      #expect(piped.errors == "bookshop: this is no terminal: give --control for a script\n")
    }
  }
}
