import { styleText } from 'node:util'
import type { LogFormat } from '#observe/log/line-formats.ts'

// Only this file decides what a terminal gets and a pipe or a file does not.

/** A stream of the process to which people or programs listen. */
export type OutputStream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'

/** The text with its style, where the reader wants one: on terminals that can show it, and not with `NO_COLOR`; anywhere with `FORCE_COLOR`. */
export function styled(text: string, style: Style | undefined, stream: OutputStream): string {
  return style === undefined ? text : styleText(style, text, { stream: stream as NodeJS.WriteStream })
}

/** Whether lines can replace those before. */
export function canRedraw(stream: OutputStream): boolean {
  return stream.isTTY && process.env.TERM !== 'dumb'
}

/** The format of a log that goes to a stream, unless another one is asked for. */
export function logFormatFor(stream: OutputStream): LogFormat {
  if (!stream.isTTY) return 'text'
  return styled(' ', 'bold', stream) === ' ' ? 'short' : 'short-colored'
}
