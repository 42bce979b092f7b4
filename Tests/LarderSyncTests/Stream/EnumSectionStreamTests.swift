import Larder
import LarderSync
import LarderTesting
import Testing

/// Sections by enums, whose order is not that of their raw values, as streams and as models.
@Suite(.timeLimit(.minutes(20))) struct EnumSectionStreamTests {
  enum Urgency: String, Storable, Comparable, CaseIterable {
    case low = "z"
    case normal = "a"
    case high = "m"

    static func < (left: Self, right: Self) -> Bool { left.place < right.place }
    private var place: Int { self == .low ? 0 : self == .normal ? 1 : 2 }
  }

  @Document
  struct Ticket: Identifiable, Equatable {
    var id: Int
    var urgency = Urgency.low
    var wish: Urgency?
  }

  private let tickets = [
    Ticket(id: 0, urgency: .high, wish: nil), Ticket(id: 1, urgency: .low, wish: .high),
    Ticket(id: 2, urgency: .normal, wish: .low),
  ]

  @Test("a stream of sections by an enum, or by one that may be nil, is in the enum's own order")
  func streams() async throws {
    try await withTemporaryStore { store in
      let memory = InMemoryRepository(of: Ticket.self)
      for repository in [store.repository(of: Ticket.self), memory]
        as [any Repository<Ticket, Ticket>]
      {
        try await repository.save(tickets)
        let urgencies = EventRecorder(repository.stream(sections: Ticket.all, by: \.urgency))
        let wishes = EventRecorder(repository.stream(sections: Ticket.all, by: \.wish))
        await urgencies.waitForValues(1)
        await wishes.waitForValues(1)

        try await repository.save(Ticket(id: 3, urgency: .low, wish: nil))
        await urgencies.waitForValues(2)
        await wishes.waitForValues(2)

        #expect(urgencies.values.last?.map(\.key) == [.low, .normal, .high])
        #expect(urgencies.values.last?.map { $0.rows.map(\.id) } == [[1, 3], [2], [0]])
        #expect(wishes.values.last?.map(\.key) == [nil, .low, .high])
        #expect(wishes.values.last?.map { $0.rows.map(\.id) } == [[0, 3], [2], [1]])
      }
    }
  }

  @Test("a model of sections takes an enum, and one that may be nil") @MainActor
  func models() async throws {
    let repository = InMemoryRepository(of: Ticket.self)
    try await repository.save(tickets)
    let urgencies: SectionModel<Urgency, Ticket> = StreamModel(
      repository, sections: Ticket.all, by: \.urgency)
    let wishes: SectionModel<Urgency?, Ticket> = StreamModel(
      repository, sections: Ticket.all, by: \.wish)
    urgencies.start()
    wishes.start()

    await waitUntil { urgencies.isLoaded && wishes.isLoaded }

    #expect(urgencies.value.map(\.key) == [.low, .normal, .high])
    #expect(wishes.value.map(\.key) == [nil, .low, .high])
    urgencies.stop()
    wishes.stop()
  }
}
