import { escapeInvisible, escapeInvisibleInLines } from '#base/visible-text.ts'
import type { LogOutput } from '#observe/log/application-log.ts'
import type { LogFormat } from '#observe/log/line-formats.ts'
import { EXIT } from './exit-code.ts'
import { canRedraw, logFormatFor, type Style, styled } from './terminal.ts'

// Only this file writes output of commands: results to standard output, errors to standard error. Objects and requests may come from
// anyone, so characters that control a terminal are escaped.

/** Prints a line of the result. Line breaks in it are escaped, too: a text of others must not write lines of its own. */
export function print(line: string): void {
  console.log(escapeInvisible(line))
}

/**
 * Prints a text of several lines. What others have said must not be in it with line breaks.
 * @param style the parts of a line, between which it has spaces
 */
export function printText(text: string, style = (line: string): readonly StyledText[] => [{ text: line }]): void {
  const lines = text.split('\n').map((line) => textOf(style(line), escapeInvisibleInLines))
  console.log(lines.join('\n'))
}

/** Prints a value as JSON for people and programs. */
export function printJson(value: unknown): void {
  printText(JSON.stringify(value, undefined, 2))
}

/** A part of a line; styled only on a terminal, and not with `NO_COLOR`. */
export interface StyledText {
  readonly text: string
  readonly style?: Style | undefined
}

/** Prints the parts of a line that are not empty, separated by spaces. */
export function printStyled(parts: readonly StyledText[]): void {
  console.log(textOf(parts))
}

function textOf(parts: readonly StyledText[], escaped = escapeInvisible): string {
  const shown = parts.filter(({ text }) => text !== '')
  return shown.map(({ text, style }) => styled(escaped(text), style, process.stdout)).join(' ')
}

/** A terminal on which lines replace those before. */
export class Screen {
  #isOpen = false

  /** @returns undefined if standard output is no terminal that can do it */
  static open(): Screen | undefined {
    return canRedraw(process.stdout) ? new Screen() : undefined
  }

  get size(): { readonly columns: number; readonly rows: number } {
    return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }
  }

  /** Shows lines in place of those before; they must fit. */
  draw(lines: readonly (readonly StyledText[])[]): void {
    // On the alternate screen, with the cursor hidden (xterm, DEC private modes 1049 and 25).
    const begin = this.#isOpen ? '' : '\u001b[?1049h\u001b[?25l'
    this.#isOpen = true
    process.stdout.write(`${begin}\u001b[H${lines.map((line) => `${textOf(line)}\u001b[K`).join('\n')}\u001b[J`)
  }

  /** Shows the terminal as it was before. */
  close(): void {
    if (this.#isOpen) process.stdout.write('\u001b[?25h\u001b[?1049l')
    this.#isOpen = false
  }
}

/** Prints a line about a failure, and further ones below it. Line breaks in them are escaped. */
export function complain(message: string, ...below: readonly string[]): void {
  console.error([`gatewright: ${message}`, ...below].map(escapeInvisible).join('\n'))
}

/**
 * Handles failures to write to the standard streams. After the reader of a pipe is gone, as `head` after its lines, the command runs to its end without
 * output and keeps its exit code. Any other failure, such as a full disk, is reported, and the exit code is `findings`.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    complain(`cannot write to standard output: ${error.message}`)
    process.exitCode = EXIT.findings
  })
  // No stream is left for a report. A gateway continues, for example when its terminal is closed.
  process.stderr.on('error', () => {})
}

/** Calls `end` when nobody reads standard output any more. */
export function whenOutputCloses(end: () => void): void {
  process.stdout.on('error', end)
}

/** Limit of bytes of the log that wait in memory for a reader of standard error. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/** The formats of the log, on standard error, and of the access log, on standard output, unless others are asked for. */
export function usualLogFormats(): { readonly format: LogFormat; readonly accessFormat: LogFormat } {
  return { format: logFormatFor(process.stderr), accessFormat: logFormatFor(process.stdout) }
}

/** The log output of a running gateway. More than its limit does not wait for a slow reader. */
export function openStandardError(): LogOutput {
  return (text) => {
    if (process.stderr.writableLength > MAX_WAITING_BYTES) return false
    process.stderr.write(text)
    return true
  }
}
