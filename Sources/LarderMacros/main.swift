// The compiler starts this program, asks over the standard input, and reads the answers from the
// standard output, until it closes the input.

var plugin = Plugin()
while let message = Frames.receive() {
  guard Frames.send(plugin.answer(message)) else { break }
}
