import { charge } from '../budget.ts'
import { CelError, tooLarge } from '../error.ts'
import { encodeUtf8 } from '../text.ts'
import { formatDuration, formatTimestamp } from '../time-format.ts'
import { typeNameOf } from '../type-name.ts'
import { Double, Duration, MapValue, type Result, Timestamp, TypeValue, Uint, type Value } from '../value.ts'
import { WEIGHTS } from '../weights.ts'

const MAX_PRECISION = 1000
const MAX_LENGTH = 16 * 1024 * 1024

const failed = (message: string): CelError => new CelError('invalid', `format: ${message}`)

/** `"%s has %d".format([a, b])` with the clauses s, d, f, e, b, x, X, o of the strings extension. */
export function formatText(template: string, args: readonly Value[]): Result {
  let text = ''
  let next = 0
  const clause = /%(?:%|(?:\.(\d{1,9}))?([A-Za-z])?)/g
  let at = 0
  for (let found = clause.exec(template); found !== null; found = clause.exec(template)) {
    text += template.slice(at, found.index)
    at = clause.lastIndex
    if (found[0] === '%%') {
      text += '%'
      continue
    }
    if (next >= args.length) return failed('there are more clauses than arguments')
    const piece = formatClause(found[2], found[1], args[next++]!)
    if (typeof piece !== 'string') return piece
    charge(piece.length * WEIGHTS.writtenUnit)
    text += piece
    if (text.length > MAX_LENGTH) return tooLarge()
  }
  return text + template.slice(at)
}

function formatClause(verb: string | undefined, precisionText: string | undefined, value: Value): string | CelError {
  const precision = precisionText === undefined ? 6 : Number(precisionText)
  if (precision > MAX_PRECISION) return failed('precision is too large')
  switch (verb) {
    case 's':
      return formatAsString(value)
    case 'd':
      return formatDecimal(value)
    case 'f':
      return formatFloat(value, verb, (x) => toFixedExactly(x, precision))
    case 'e':
      return formatFloat(value, verb, (x) => toExponent(x, precision))
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : formatRadix(value, 2, verb)
    case 'o':
      return formatRadix(value, 8, verb)
    case 'x':
      return formatHex(value, verb)
    case 'X': {
      const text = formatHex(value, verb)
      return typeof text === 'string' ? text.toUpperCase() : text
    }
    default:
      return failed(verb === undefined ? 'a clause is not complete' : 'unknown clause')
  }
}

function notAllowed(verb: string, value: Value): CelError {
  return failed(`%${verb} cannot show ${typeNameOf(value)}`)
}

function formatAsString(value: Value): string | CelError {
  charge(WEIGHTS.writtenValue)
  if (typeof value === 'string') return value
  if (value === null) return 'null'
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Double) return formatDouble(value.value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Uint8Array) return decodeLoosely(value)
  if (Array.isArray(value)) return formatList(value)
  if (value instanceof MapValue) return formatMap(value)
  return notAllowed('s', value)
}

function decodeLoosely(bytes: Uint8Array): string {
  charge(bytes.length * WEIGHTS.utf8Byte)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** As `string(double)` and `%s` print it. */
export function formatDouble(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

function formatList(list: readonly Value[]): string | CelError {
  const parts: string[] = []
  for (const element of list) {
    const text = formatAsString(element)
    if (typeof text !== 'string') return text
    charge(text.length * WEIGHTS.writtenUnit)
    parts.push(text)
  }
  return `[${parts.join(', ')}]`
}

function formatMap(map: MapValue): string | CelError {
  const parts: string[] = []
  for (const key of map.keys()) {
    const value = map.get(key)
    if (value === undefined || value instanceof CelError) continue
    const [keyText, valueText] = [formatAsString(key), formatAsString(value)]
    if (typeof keyText !== 'string') return keyText
    if (typeof valueText !== 'string') return valueText
    charge((keyText.length + valueText.length) * WEIGHTS.writtenUnit)
    parts.push(`${keyText}: ${valueText}`)
  }
  return `{${parts.sort().join(', ')}}`
}

function formatDecimal(value: Value): string | CelError {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Double && !Number.isFinite(value.value)) return String(value.value)
  return notAllowed('d', value)
}

function formatFloat(value: Value, verb: string, format: (x: number) => string): string | CelError {
  const x =
    value instanceof Double
      ? value.value
      : value instanceof Uint
        ? Number(value.value)
        : typeof value === 'number' || typeof value === 'bigint'
          ? Number(value)
          : undefined
  if (x === undefined) return notAllowed(verb, value)
  return Number.isFinite(x) ? format(x) : String(x)
}

/** Rounds ties to even, as IEEE 754 does: `toFixed` rounds exact ties away from zero. */
function toFixedExactly(x: number, precision: number): string {
  if (precision <= 100 && !isTie(x, precision)) return x.toFixed(precision)
  if (precision > 100) return x.toFixed(100) + '0'.repeat(precision - 100)
  const scale = 10 ** precision
  const floor = Math.floor(x * scale)
  return ((floor % 2 === 0 ? floor : floor + 1) / scale).toFixed(precision)
}

/** An exact tie exists only if the scaled number is exactly representable. */
function isTie(x: number, precision: number): boolean {
  if (precision > 22) return false
  const scaled = x * 10 ** precision
  return (
    Number.isSafeInteger(scaled * 2) &&
    !Number.isInteger(scaled) &&
    scaled / 10 ** precision === x &&
    isDyadic(x, precision)
  )
}

function isDyadic(x: number, precision: number): boolean {
  return Number.isInteger(x * 2 ** (precision + 1))
}

function toExponent(x: number, precision: number): string {
  const text = x.toExponential(Math.min(precision, 100))
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

function integerOf(value: Value): bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value)
  return value instanceof Uint ? BigInt(value.value) : undefined
}

function formatRadix(value: Value, radix: number, verb: string): string | CelError {
  return integerOf(value)?.toString(radix) ?? notAllowed(verb, value)
}

function formatHex(value: Value, verb: string): string | CelError {
  if (typeof value === 'string') return chargedHex(encodeUtf8(value))
  if (value instanceof Uint8Array) return chargedHex(value)
  return formatRadix(value, 16, verb)
}

function chargedHex(bytes: Uint8Array): string {
  charge(bytes.length * WEIGHTS.writtenUnit)
  return bytes.toHex()
}
