import { escapeInvisibleInLines } from '#base/visible-text.ts'

// Only this file writes output of commands: results to standard output, errors to standard error. Objects and requests may come from
// anyone, so characters that control a terminal are escaped.

/** Prints a line of the result. */
export function print(line: string): void {
  console.log(escapeInvisibleInLines(line))
}

/** Prints a line about a failure. */
export function complain(message: string): void {
  console.error(escapeInvisibleInLines(`gatewright: ${message}`))
}

/** The log output of a running gateway. */
export function openStandardError(): (text: string) => void {
  // Standard error may be closed, for example a terminal. The gateway keeps running.
  process.stderr.on('error', () => {})
  return (text) => void process.stderr.write(text)
}
