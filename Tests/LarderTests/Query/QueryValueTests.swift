import Foundation
import Larder
import Testing

@Suite struct QueryValueTests {
  @Test("equal spelling makes equal queries")
  func equal() {
    func query() -> Query<Contact> {
      Contact.where {
        $0.city == "Oslo" && ($0.order.isIn(1...5) || $0.tags.contains("vip")) && !$0.isActive
          && $0.geo.lat > 50 && $0.note != nil
      }
      .sorted(by: \.name).sorted(by: \.order, .reverse).limit(20).offset(3)
    }
    #expect(query() == query())
    #expect(query() != query().limit(19))
    #expect(query() != query().sorted(by: \.city))
    #expect(query() != query().where { $0.order < 5 })
    #expect(Contact.all == Contact.all)
    #expect(Contact.where { $0.order < 5 } != Contact.where { $0.order <= 5 })
    #expect(Contact.where { $0.city.contains("a") } != Contact.where { $0.city.hasPrefix("a") })
    #expect(Contact.where { $0.tags.contains("a") } != Contact.where { $0.name.contains("a") })
    #expect(Contact.all.sorted(by: \.name) != Contact.all.sorted(by: \.name, .reverse))
  }

  @Test("conditions in one `where` and in several make the same query")
  func conjunction() {
    let together = Contact.where { $0.city == "Oslo" && $0.order < 5 }
    let apart = Contact.where { $0.city == "Oslo" }.where { $0.order < 5 }

    #expect(together == apart)
  }

  @Test("parts that only a decoded document can answer are compared by identity")
  func identity() {
    func query() -> Query<Specimen> { Specimen.where { $0.isHeavy && $0.name == "a" } }
    let one = query()
    let copy = one

    #expect(one == copy)
    #expect(one.limit(5) == copy.limit(5))
    #expect(one != query())
    #expect(Specimen.all.sorted(by: \.title) != Specimen.all.sorted(by: \.title))
  }

  @Test("every operator is printed")
  func operators() {
    func text(_ condition: (Fields<Specimen>) -> Filter<Specimen>) -> String {
      String("\(Specimen.where(condition))".dropFirst("Specimen where ".count))
    }
    #expect(text { $0.name == "a\"b\r\n" } == #"name == "a\"b\r\n""#)
    #expect(text { $0.name != "a" } == #"name != "a""#)
    #expect(text { $0.count < 5 } == "n < 5")
    #expect(text { $0.count <= 5 } == "n <= 5")
    #expect(text { $0.big > .max } == "big > 18446744073709551615")
    #expect(text { $0.ratio >= 0.5 } == "ratio >= 0.5")
    #expect(text { $0.note == nil } == "note == null")
    #expect(text { $0.note != nil } == "note != null")
    #expect(text { $0.shade.isNil() } == "shade == null")
    #expect(text { $0.name.isIn(["a", "b"]) } == #"name in ["a", "b"]"#)
    #expect(text { $0.count.isIn(1...5) } == "n >= 1 && n <= 5")
    #expect(text { $0.count.isIn(1..<5) } == "n >= 1 && n < 5")
    #expect(text { $0.count.isIn(1...) } == "n >= 1")
    #expect(text { $0.step.isIn(1...5) } == "step >= 1 && step <= 5")
    #expect(text { $0.tags.contains("a") } == #"tags contains "a""#)
    #expect(text { $0.name.contains("a") } == #"name contains "a""#)
    #expect(text { $0.name.hasPrefix("a") } == #"name hasPrefix "a""#)
    #expect(text { $0.name.hasSuffix("a") } == #"name hasSuffix "a""#)
    #expect(text { $0.color == .blue } == #"color == "Blue""#)
    #expect(text { $0.rank.isIn([.low, .high]) } == "rank in [-1, 1]")
    #expect(text { !$0.isOpen } == "open == false")
    #expect(text { $0.base.place.code == 1 } == "base.place.code == 1")
    #expect(text { $0.isHeavy == true } == "<computed> == true")
    #expect(
      text { $0.made == Date(timeIntervalSinceReferenceDate: 0) }
        == #"made == "2001-01-01T00:00:00.000Z""#)
    #expect(
      text { $0.token == Pool.ids[1] } == #"token == "00000000-0000-0000-0000-000000000001""#)
  }

  @Test("what belongs together is printed in parentheses")
  func nesting() {
    let query = Contact.where {
      ($0.city == "Oslo" || $0.city == "Bergen") && !($0.order < 5)
        && !($0.isActive && $0.order == 1)
    }
    .where { $0.name == "a" }

    #expect(
      "\(query)" == """
        Contact where (city == "Oslo" || city == "Bergen") && !(order < 5) \
        && !(active == true && order == 1) && name == "a"
        """)
  }

  @Test("order, offset and limit are printed behind the filter")
  func rest() {
    let query = Contact.where { $0.isActive }
      .sorted(by: \.name).sorted(by: \.order, .reverse).offset(5).limit(20)

    #expect(
      "\(query)"
        == "Contact where active == true sorted by name, order descending offset 5 limit 20")
    #expect("\(Contact.all.limit(3))" == "Contact where true limit 3")
  }
}
