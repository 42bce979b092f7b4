import LarderTestKit
import Testing

@testable import Larder

@Suite struct WaitingLineTests {
  @Test("a line from which anybody leaves at random agrees with an array")
  func random() {
    var random = RandomSource()
    var line = WaitingLine<Int>()
    var model: [(number: UInt64, element: Int)] = []
    for step in 0..<20_000 {
      switch random.int(0..<5) {
      case 0, 1: model.append((line.append(step), step))
      case 2: #expect(line.popFirst() == (model.isEmpty ? nil : model.removeFirst().element))
      default:
        let number = UInt64(random.int(0..<step + 1))
        let place = model.firstIndex { $0.number == number }
        #expect(line.remove(number) == place.map { model.remove(at: $0).element })
      }
      if step % 100 == 0 {
        #expect(Array(line.elements) == model.map(\.element), "\(random.hint)")
        #expect(line.count == model.count)
      }
    }
  }

  @Test("work in a line grows with who comes and goes, not with who waits")
  func work() {
    for count in [0, 1, 100, 20_000] {
      var line = WaitingLine<Int>()
      let numbers = (0..<count).map { line.append($0) }
      for number in numbers.reversed() where number % 2 == 0 { _ = line.remove(number) }
      while line.popFirst() != nil {}

      // Less than half of what is moved together stays.
      #expect(line.movedCount <= 2 * count)
    }
  }
}
