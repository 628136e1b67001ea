import type { Json } from '#base/json.ts'
import { escapeInvisible } from '#base/visible-text.ts'
import { formatTimestamp } from './timestamp.ts'

/** A message of the gateway itself. */
interface Message {
  /** In text it is omitted: it follows from the message. */
  readonly module: string
  readonly level: string
  readonly message: string
}

/** Formats one line of fields. A logging library would cost as much as half a proxied request. */
export interface LineFormat {
  /** The start of an access log line, up to the first field. */
  start(epochMs: number): string
  /** The same for a message of the gateway itself. */
  message(epochMs: number, message: Message): string
  /** The text before the value of a default field. */
  key(name: string): string
  text(value: string): string
  /** A text without characters that need quotes or escapes. */
  plain(value: string): string
  number(value: number): string
  /** The text after a number with a unit. */
  unit(unit: string): string
  /** A whole field with a foreign name: from the configuration or from a token. */
  foreign(name: string, value: Json): string
  end: string
  /** A multi-line value in the format for people, printed below the line; undefined: it is part of the line. */
  below(value: string): string | undefined
  /** Whether a field is shown; undefined: all are. */
  shows?(name: string, isRequest: boolean): boolean
}

/** Characters that need quotes in a text line: some would look like the next field, others would control a terminal. */
const UNSAFE = /[\s"=\\\p{Cc}\p{Cf}\p{Cs}]|^$/u
/** A faster check for the usual values, which have none of them. */
const PLAIN = /^[!#-<>-[\]-~]+$/

/** `<time>\tinfo\trequest k=v k=v` */
export const TEXT_LINE: LineFormat = {
  start: (epochMs) => `${formatTimestamp(epochMs)}\tinfo\trequest`,
  message: (epochMs, { level, message }) => `${formatTimestamp(epochMs)}\t${level}\t${message}`,
  key: (name) => ` ${name}=`,
  text: quoteUnsafe,
  plain: (value) => value,
  number: numberText,
  unit: (unit) => unit,
  foreign: (name, value) =>
    ` ${quoteUnsafe(name)}=${quoteUnsafe(typeof value === 'string' ? value : JSON.stringify(value))}`,
  end: '\n',
  below: (value) => (value.includes('\n') ? value.split('\n').map(indent).join('') : undefined),
}

/** The decimals of each number of thousandths, with their point: `''`, `.001`, `.002` ... */
const DECIMALS = Array.from({ length: 1000 }, (_, thousandths) => String(thousandths / 1000).slice(1))
/** V8 keeps integers up to this in their place, without an object. */
const MAX_THOUSANDTHS = 2 ** 30 - 1

/** As JavaScript writes it. A duration has at most three decimals: two integers are written faster than a fraction. */
function numberText(value: number): string {
  const thousandths = Math.round(value * 1000)
  const isShort = thousandths >= 0 && thousandths <= MAX_THOUSANDTHS && thousandths / 1000 === value
  return isShort ? `${Math.trunc(value)}${DECIMALS[thousandths % 1000]}` : `${value}`
}

function indent(line: string): string {
  return `    ${escapeInvisible(line)}\n`
}

function quoteUnsafe(value: string): string {
  return PLAIN.test(value) || !UNSAFE.test(value) ? value : quote(value)
}

/** A value as JSON, without characters that a terminal does not show. */
function quote(value: Json): string {
  return escapeInvisible(JSON.stringify(value))
}

/** One object with flat dotted keys. */
export const JSON_LINE: LineFormat = {
  start: (epochMs) => `{"level":"info","time":"${formatTimestamp(epochMs)}","scope":"request"`,
  message: (epochMs, { module, level, message }) =>
    `{"level":"${level}","time":"${formatTimestamp(epochMs)}","scope":"gateway","module":"${module}","message":${JSON.stringify(message)}`,
  key: (name) => `,${JSON.stringify(name)}:`,
  text: (value) => (PLAIN.test(value) ? `"${value}"` : quote(value)),
  plain: (value) => `"${value}"`,
  number: (value) => (Number.isFinite(value) ? numberText(value) : 'null'),
  unit: () => '',
  foreign: (name, value) => `,${quote(name)}:${quote(value)}`,
  end: '}\n',
  below: () => undefined,
}
