import type { Json } from '#exchange/exchange.ts'
import { formatTimestamp } from './timestamp.ts'

/** Builds one line of fields by hand; a logging library would cost as much as half a proxied request. */
export interface LineFormat {
  /** Everything before the first field. */
  start(epochMs: number): string
  /** One field, ready to append. */
  text(name: string, value: string): string
  json(name: string, value: Json): string
  /** The same for a name that is not ours: users and tokens choose it. */
  foreign(name: string, value: Json): string
  end: string
}

/** Characters that need quotes in a text line: some would look like the next field, others would be obeyed by a terminal. */
const UNSAFE = /[\s"=\\\p{Cc}\p{Cf}\p{Cs}]|^$/u
/** Of those, what JSON leaves as it is. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** `<time>\tinfo\trequest k=v k=v` */
export const TEXT_LINE: LineFormat = {
  start: (epochMs) => `${formatTimestamp(epochMs)}\tinfo\trequest`,
  text: (name, value) => ` ${name}=${UNSAFE.test(value) ? quote(value) : value}`,
  json: (name, value) =>
    typeof value === 'string' ? TEXT_LINE.text(name, value) : TEXT_LINE.text(name, JSON.stringify(value)),
  foreign: (name, value) => TEXT_LINE.json(UNSAFE.test(name) ? quote(name) : name, value),
  end: '\n',
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
  text: (name, value) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  json: (name, value) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  foreign: (name, value) => JSON_LINE.json(name, value),
  end: '}\n',
}
