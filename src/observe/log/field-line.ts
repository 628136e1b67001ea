import { escapeUnseen } from '#base/visible-text.ts'
import type { Json } from '#exchange/exchange.ts'
import { formatTimestamp } from './timestamp.ts'

/** Builds one line of fields by hand; a logging library would cost as much as half a proxied request. */
export interface LineFormat {
  /** Everything before the first field of a line of the access log. */
  start(epochMs: number): string
  /** The same of a message of the gateway itself. */
  message(epochMs: number, level: string, message: string): string
  /** What stands before the value of a field of ours. */
  key(name: string): string
  text(value: string): string
  number(value: number): string
  /** A whole field whose name is not ours: users and tokens choose it. */
  foreign(name: string, value: Json): string
  end: string
  /** A value of several lines as people read it, to stand under the line; undefined: it stands in the line. */
  below(value: string): string | undefined
}

/** Characters that need quotes in a text line: some would look like the next field, others would be obeyed by a terminal. */
const UNSAFE = /[\s"=\\\p{Cc}\p{Cf}\p{Cs}]|^$/u
/** Most values have none of them, and are told so sooner. */
const PLAIN = /^[!#-<>-[\]-~]+$/

/** `<time>\tinfo\trequest k=v k=v` */
export const TEXT_LINE: LineFormat = {
  start: (epochMs) => `${formatTimestamp(epochMs)}\tinfo\trequest`,
  message: (epochMs, level, message) => `${formatTimestamp(epochMs)}\t${level}\t${message}`,
  key: (name) => ` ${name}=`,
  text: quoteUnsafe,
  number: JSON.stringify,
  foreign: (name, value) =>
    ` ${quoteUnsafe(name)}=${quoteUnsafe(typeof value === 'string' ? value : JSON.stringify(value))}`,
  end: '\n',
  below: (value) => (value.includes('\n') ? value.split('\n').map(indent).join('') : undefined),
}

function indent(line: string): string {
  return `    ${escapeUnseen(line)}\n`
}

function quoteUnsafe(value: string): string {
  return PLAIN.test(value) || !UNSAFE.test(value) ? value : quote(value)
}

/** A value as JSON, without what people who read it in a terminal would not see. */
function quote(value: Json): string {
  return escapeUnseen(JSON.stringify(value))
}

/** One object with flat dotted keys. */
export const JSON_LINE: LineFormat = {
  start: (epochMs) => `{"level":"info","time":"${formatTimestamp(epochMs)}","scope":"request"`,
  message: (epochMs, level, message) =>
    `{"level":"${level}","time":"${formatTimestamp(epochMs)}","scope":"gateway","message":${JSON.stringify(message)}`,
  key: (name) => `,${JSON.stringify(name)}:`,
  text: (value) => (PLAIN.test(value) ? `"${value}"` : quote(value)),
  number: JSON.stringify,
  foreign: (name, value) => `,${quote(name)}:${quote(value)}`,
  end: '}\n',
  below: () => undefined,
}
