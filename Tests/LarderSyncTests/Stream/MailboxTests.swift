import Testing

@testable import LarderSync

@Suite(.timeLimit(.minutes(20))) struct MailboxTests {
  private let mailbox = Mailbox<Int>()

  @Test("events are given in the order in which they came")
  func order() async {
    let events: [Event<Int>] = [
      .value(1), .failure(Offline(number: 1)), .failure(Offline(number: 2)), .value(2),
    ]
    for event in events { mailbox.put(event) }

    for event in events { #expect(await mailbox.next() == event) }
  }

  @Test("who does not ask is kept the updater's latest failure, and how fresh the values are now")
  func latest() async {
    mailbox.put(.value(1))
    for number in 1...100 {
      mailbox.put(.failure(Offline(number: number)), from: .updater)
      mailbox.put(.refresh(RefreshState(isRefreshing: number % 2 == 1)), from: .state)
    }
    mailbox.put(.failure(Offline()))
    mailbox.finish()

    var events: [Event<Int>] = []
    while let event = await mailbox.next() { events.append(event) }

    #expect(
      events == [
        .value(1), .failure(Offline(number: 100)), .refresh(RefreshState()), .failure(Offline()),
      ])
  }

  @Test("after the end what came before it is given, and then nothing; what comes later is not")
  func end() async {
    mailbox.put(.value(1))
    mailbox.put(.value(2))
    mailbox.finish()
    mailbox.put(.value(3))

    #expect(await mailbox.next() == .value(1))
    #expect(await mailbox.next() == .value(2))
    #expect(await mailbox.next() == nil)
    #expect(await mailbox.next() == nil)
    #expect(await !mailbox.isValueWanted())
  }

  @Test("what is abandoned gives nothing, ends all who wait, and wants nothing")
  func abandoned() async {
    let consumers = (0..<2).map { _ in Task { await mailbox.next() } }
    while await !mailbox.isValueWanted() {}
    let source = Task { [mailbox] in
      while await mailbox.isValueWanted() { await Task.yield() }
    }

    mailbox.abandon()

    for consumer in consumers { #expect(await consumer.value == nil) }
    await source.value
    mailbox.put(.value(1))
    #expect(await mailbox.next() == nil)
  }

  @Test("a value is wanted when a consumer waits, and not before")
  func wanting() async {
    let log = Log()
    let source = Task { [mailbox] in
      while await mailbox.isValueWanted() {
        log.add("wanted")
        mailbox.put(.value(log.lines.count))
      }
    }
    mailbox.put(.value(0))

    #expect(await mailbox.next() == .value(0))
    #expect(log.lines.isEmpty)
    #expect(await mailbox.next() == .value(1))
    #expect(await mailbox.next() == .value(2))

    #expect(log.lines.count == 2)
    mailbox.finish()
    await source.value
  }

  @Test("who always finds something else when asking is given values, too, at most one ahead")
  func notStarved() async {
    let log = Log()
    mailbox.put(.refresh(RefreshState(isRefreshing: true)), from: .state)
    let source = Task { [mailbox] in
      while await mailbox.isValueWanted() {
        log.add("wanted")
        mailbox.put(.value(log.lines.count))
      }
    }
    var values: [Int] = []
    for round in 0..<20 {
      guard case .value(let value)? = await mailbox.next() else {
        // Before it asks again, the state has changed again, and the value is there.
        await settle { log.lines.count == values.count + 1 }
        mailbox.put(.refresh(RefreshState(isRefreshing: round % 2 == 0)), from: .state)
        #expect(log.lines.count == values.count + 1)
        continue
      }
      values.append(value)
    }

    #expect(values.count >= 6 && values == Array(1...values.count))
    mailbox.finish()
    await source.value
  }
}
