import { CelError, OVERFLOW } from '../error.ts'
import { doubleToInt, doubleToUint, type Int, toInt, toUint } from '../numbers.ts'
import { define, type Overload } from '../overload.ts'
import { codePointLength, decodeUtf8, encodeUtf8 } from '../text.ts'
import { checkedTimestamp, formatDuration, formatTimestamp, parseCelDuration, parseTimestamp } from '../time-format.ts'
import { typeOfValue } from '../type-name.ts'
import { Double, type Duration, type MapValue, type Result, type Timestamp, Uint, type Value } from '../value.ts'
import { formatDouble } from './format-text.ts'

const invalid = (type: string): CelError => new CelError('invalid', `text is not ${type}`)

/** `size`, `type`, `dyn` and the conversions that are named after types. */
export const CONVERSIONS: readonly Overload[] = [
  define('dyn(A) -> dyn', (value: Value) => value),
  define('type(A) -> type(A)', (value: Value) => typeOfValue(value)),

  define('size(string) -> int', codePointLength),
  define('size(bytes) -> int', (bytes: Uint8Array) => bytes.length),
  define('size(list(A)) -> int', (list: readonly Value[]) => list.length),
  define('size(map(A, B)) -> int', (map: MapValue) => map.size),
  define('(string).size() -> int', codePointLength),
  define('(bytes).size() -> int', (bytes: Uint8Array) => bytes.length),
  define('(list(A)).size() -> int', (list: readonly Value[]) => list.length),
  define('(map(A, B)).size() -> int', (map: MapValue) => map.size),

  define('bool(bool) -> bool', (value: boolean) => value),
  define('bool(string) -> bool', parseBool),

  define('int(int) -> int', (value: Int) => value),
  define('int(uint) -> int', (value: Uint) => toInt(BigInt(value.value))),
  define('int(double) -> int', (value: Double) => doubleToInt(value.value)),
  define('int(string) -> int', (text: string) =>
    /^[+-]?\d{1,30}$/.test(text) ? toInt(BigInt(text.replace(/^\+/, ''))) : invalid('an int'),
  ),
  define('int(timestamp) -> int', (time: Timestamp) => time.seconds),

  define('uint(uint) -> uint', (value: Uint) => value),
  define('uint(int) -> uint', (value: Int) =>
    typeof value === 'number' && value >= 0 ? new Uint(value) : toUint(BigInt(value)),
  ),
  define('uint(double) -> uint', (value: Double) => doubleToUint(value.value)),
  define('uint(string) -> uint', (text: string) =>
    /^\+?\d{1,30}$/.test(text) ? toUint(BigInt(text.replace(/^\+/, ''))) : invalid('a uint'),
  ),

  define('double(double) -> double', (value: Double) => value),
  define('double(int) -> double', (value: Int) => new Double(Number(value))),
  define('double(uint) -> double', (value: Uint) => new Double(Number(value.value))),
  define('double(string) -> double', parseDouble),

  define('string(string) -> string', (value: string) => value),
  define('string(bool) -> string', (value: boolean) => String(value)),
  define('string(int) -> string', (value: Int) => String(value)),
  define('string(uint) -> string', (value: Uint) => String(value.value)),
  define('string(double) -> string', (value: Double) => formatDouble(value.value)),
  define(
    'string(bytes) -> string',
    (bytes: Uint8Array) => decodeUtf8(bytes) ?? new CelError('invalid', 'invalid UTF-8'),
  ),
  define('string(timestamp) -> string', formatTimestamp),
  define('string(duration) -> string', formatDuration),

  define('bytes(bytes) -> bytes', (value: Uint8Array) => value),
  define('bytes(string) -> bytes', encodeUtf8),

  define('timestamp(timestamp) -> timestamp', (value: Timestamp) => value),
  define('timestamp(string) -> timestamp', parseTimestamp),
  define('timestamp(int) -> timestamp', (seconds: Int) => checkedTimestamp(Number(seconds), 0)),

  define('duration(duration) -> duration', (value: Duration) => value),
  define('duration(string) -> duration', parseCelDuration),
  define('duration(int) -> duration', (seconds: Int) => parseCelDuration(`${seconds}s`)),
]

function parseBool(text: string): Result {
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true
  return /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : invalid('a bool')
}

function parseDouble(text: string): Result {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
    const value = Number(text)
    return Number.isFinite(value) ? new Double(value) : OVERFLOW
  }
  if (/^nan$/i.test(text)) return new Double(Number.NaN)
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text)
  if (infinite === null) return invalid('a double')
  return new Double(infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY)
}
