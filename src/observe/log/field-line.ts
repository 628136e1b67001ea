import type { Json } from '#exchange/exchange.ts'
import { formatTimestamp } from './timestamp.ts'

/** Builds one line of fields by hand; a logging library would cost as much as half a proxied request. */
export interface LineFormat {
  /** Everything before the first field. */
  start(epochMs: number): string
  /** One field, ready to append. */
  text(name: string, value: string): string
  json(name: string, value: Json): string
  end: string
}

/** Characters that need quotes in a text line. */
const UNSAFE = /[\s"=\\]|^$/

/** `<time>\tinfo\trequest k=v k=v` */
export const TEXT_LINE: LineFormat = {
  start: (epochMs) => `${formatTimestamp(epochMs)}\tinfo\trequest`,
  text: (name, value) => ` ${name}=${UNSAFE.test(value) ? JSON.stringify(value) : value}`,
  json: (name, value) =>
    typeof value === 'string' ? TEXT_LINE.text(name, value) : TEXT_LINE.text(name, JSON.stringify(value)),
  end: '\n',
}

/** One object with flat dotted keys. */
export const JSON_LINE: LineFormat = {
  start: (epochMs) => `{"level":"info","time":"${formatTimestamp(epochMs)}","scope":"request"`,
  text: (name, value) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  json: (name, value) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  end: '}\n',
}
