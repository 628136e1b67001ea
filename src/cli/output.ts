import { escapeUnseenInLines } from '#base/visible-text.ts'

// The only place where commands write: what they were asked for to standard output, complaints to standard error. Objects and requests
// may be anybody's: what a terminal would obey is escaped.

/** A line of what a command was asked for. */
export function print(line: string): void {
  console.log(escapeUnseenInLines(line))
}

/** A line about a command that could not do all it was asked for. */
export function complain(message: string): void {
  console.error(escapeUnseenInLines(`gatewright: ${message}`))
}

/** Where a running gateway logs. */
export function openStandardError(): (text: string) => void {
  // Where it leads may be closed, a terminal above all; a gateway that nobody hears goes on.
  process.stderr.on('error', () => {})
  return (text) => void process.stderr.write(text)
}
