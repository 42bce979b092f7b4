import Foundation

// The fuzzers compile this file with a source of random numbers of their own.
#if canImport(LarderTestKit)
  import LarderTestKit
#endif

/// A type with all that `Codable` can do.
struct RichValue: Codable, Equatable {
  enum Channel: Codable, Hashable {
    case unknown
    case phone(String, extension: Int?)
    case nested([Channel])
    case mail(address: String)
  }

  enum Genre: String, Codable, CaseIterable { case crime, poetry }

  struct Point: Codable, Hashable {
    var x: Double
    var y: Float
  }

  final class Tree: Codable, Equatable {
    var label: String
    var branches: [Tree]

    init(_ label: String, _ branches: [Tree]) {
      self.label = label
      self.branches = branches
    }

    static func == (left: Tree, right: Tree) -> Bool {
      left.label == right.label && left.branches == right.branches
    }
  }

  var text: String
  var flag: Bool
  var number: Int
  var widths: Widths
  var double: Double
  var float: Float
  var date: Date
  var uuid: UUID
  var data: Data
  var url: URL
  var decimal: Decimal
  var channel: Channel
  var genre: Genre?
  var point: Point?
  var points: [Point]
  var maybe: [Int?]
  var texts: [String]
  var byName: [String: Point]
  var byNumber: [Int: Channel]
  var byID: [UUID: Point]
  var numbers: Set<Int>
  var places: Set<Point>
  var tree: Tree
  var range: Range<Int>
  var parts: DateComponents

  struct Widths: Codable, Equatable {
    var int8: Int8
    var int16: Int16
    var int32: Int32
    var int64: Int64
    var uint: UInt
    var uint8: UInt8
    var uint16: UInt16
    var uint32: UInt32
    var uint64: UInt64
  }
}

extension RandomSource {
  mutating func richValue() -> RichValue {
    let low = int(-50..<50)
    return RichValue(
      text: text(), flag: bool(), number: Int(integer()), widths: widths(), double: finite(),
      float: Float(int(-1000..<1000)) / 8,
      date: Date(timeIntervalSinceReferenceDate: finite()), uuid: uuid(), data: data(), url: url(),
      decimal: Decimal(Int(integer())) / 4, channel: channel(3),
      genre: once(in: 3) ? nil : RichValue.Genre.allCases.randomElement(using: &self),
      point: bool() ? point() : nil, points: array(0..<5) { $0.point() },
      maybe: array(0..<5) { $0.bool() ? nil : $0.int(0..<300) },
      texts: array(0..<4) { $0.text() },
      byName: Dictionary(
        array(0..<30) { ($0.text(), $0.point()) }, uniquingKeysWith: { first, _ in first }),
      byNumber: Dictionary(
        array(0..<6) { (Int($0.integer()), $0.channel(2)) },
        uniquingKeysWith: { first, _ in first }),
      byID: Dictionary(uniqueKeysWithValues: array(0..<6) { ($0.uuid(), $0.point()) }),
      numbers: Set(array(0..<9) { $0.int(-99..<99) }), places: Set(array(0..<6) { $0.point() }),
      tree: tree(3), range: low..<low + int(0..<9),
      parts: DateComponents(year: int(1900..<2100), month: int(1..<13)))
  }

  private mutating func finite() -> Double { Double(integer()) / 1024 }

  private mutating func point() -> RichValue.Point {
    RichValue.Point(x: finite(), y: Float(int(-999..<999)) / 16)
  }

  private mutating func tree(_ levels: Int) -> RichValue.Tree {
    RichValue.Tree(text(upTo: 5), levels == 0 ? [] : array(0..<3) { $0.tree(levels - 1) })
  }

  private mutating func channel(_ levels: Int) -> RichValue.Channel {
    switch int(0..<(levels == 0 ? 3 : 4)) {
    case 0: .unknown
    case 1: .phone(text(), extension: bool() ? int(0..<99) : nil)
    case 2: .mail(address: text())
    default: .nested(array(0..<3) { $0.channel(levels - 1) })
    }
  }

  private mutating func widths() -> RichValue.Widths {
    RichValue.Widths(
      int8: Int8(truncatingIfNeeded: next()), int16: Int16(truncatingIfNeeded: next()),
      int32: Int32(truncatingIfNeeded: next()), int64: integer(),
      uint: UInt(truncatingIfNeeded: next()), uint8: UInt8(truncatingIfNeeded: next()),
      uint16: UInt16(truncatingIfNeeded: next()), uint32: UInt32(truncatingIfNeeded: next()),
      uint64: next())
  }
}
