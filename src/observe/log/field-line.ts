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
/** Of those, what JSON leaves as it is. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

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
  return `    ${line.replace(UNSEEN, escapeCharacter)}\n`
}

function quoteUnsafe(value: string): string {
  return PLAIN.test(value) || !UNSAFE.test(value) ? value : quote(value)
}

function quote(value: string): string {
  return JSON.stringify(value).replace(UNSEEN, escapeCharacter)
}

function escapeCharacter(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** One object with flat dotted keys. */
export const JSON_LINE: LineFormat = {
  start: (epochMs) => `{"level":"info","time":"${formatTimestamp(epochMs)}","scope":"request"`,
  message: (epochMs, level, message) =>
    `{"level":"${level}","time":"${formatTimestamp(epochMs)}","scope":"gateway","message":${JSON.stringify(message)}`,
  key: (name) => `,${JSON.stringify(name)}:`,
  text: JSON.stringify,
  number: JSON.stringify,
  foreign: (name, value) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  end: '}\n',
  below: () => undefined,
}
