import { styleText } from 'node:util'
import { escapeInvisible, escapeInvisibleInLines } from '#base/visible-text.ts'

// Only this file writes output of commands: results to standard output, errors to standard error. Objects and requests may come from
// anyone, so characters that control a terminal are escaped.

/** Prints a line of the result. */
export function print(line: string): void {
  console.log(escapeInvisibleInLines(line))
}

/** A part of a line; styled only on a terminal, and not with `NO_COLOR`. */
export interface StyledText {
  readonly text: string
  readonly style?: 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'
}

/** Prints the parts of a line that are not empty, separated by spaces. */
export function printStyled(parts: readonly StyledText[]): void {
  const shown = parts.filter(({ text }) => text !== '')
  console.log(shown.map(({ text, style }) => styled(escapeInvisible(text), style)).join(' '))
}

function styled(text: string, style: StyledText['style']): string {
  return style === undefined ? text : styleText(style, text, { stream: process.stdout })
}

/** Prints a line about a failure. */
export function complain(message: string): void {
  console.error(escapeInvisibleInLines(`gatewright: ${message}`))
}

/** Calls `end` when nobody reads standard output any more. */
export function whenOutputCloses(end: () => void): void {
  process.stdout.on('error', end)
}

/** The log output of a running gateway. */
export function openStandardError(): (text: string) => void {
  // Standard error may be closed, for example a terminal. The gateway keeps running.
  process.stderr.on('error', () => {})
  return (text) => void process.stderr.write(text)
}
