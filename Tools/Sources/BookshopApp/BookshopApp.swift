internal import Bookshop
internal import Foundation

@main
struct BookshopApp {
  static func main() async { exit(await Bookshop.run(Array(CommandLine.arguments.dropFirst()))) }
}
