import { CelError, TIME_RANGE } from './error.ts'
import { Duration, Timestamp } from './value.ts'

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, seconds since the epoch. */
const MIN_TIMESTAMP = -62_135_596_800
const MAX_TIMESTAMP = 253_402_300_799
/** The maximum of whole seconds in int64 nanoseconds. */
const MAX_DURATION_SECONDS = 9_223_372_036

const RFC3339 = /^(\d{4,5})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** Parses an RFC 3339 time. */
export function parseTimestamp(text: string): Timestamp | CelError {
  const found = RFC3339.exec(text)
  if (found === null) return new CelError('invalid', 'not an RFC 3339 time')
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const valid =
    month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) && hour < 24 && minute < 60 && second < 60
  if (!valid) return new CelError('invalid', 'not an RFC 3339 time')
  const offset =
    found[8] === undefined ? 0 : (Number(found[9]) * 60 + Number(found[10])) * (found[8] === '-' ? -60 : 60)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  return checkedTimestamp(date.getTime() / 1000 - offset, Number((found[7] ?? '').padEnd(9, '0')))
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year < 100 ? year + 400 : year, month, 0)).getUTCDate()
}

/** A timestamp in the years 1 to 9999; excess nanoseconds are carried to the seconds. */
export function checkedTimestamp(seconds: number, nanos: number): Timestamp | CelError {
  const carry = Math.floor(nanos / 1e9)
  const total = seconds + carry
  if (!(total >= MIN_TIMESTAMP && total <= MAX_TIMESTAMP)) return TIME_RANGE
  return new Timestamp(total, nanos - carry * 1e9)
}

/** A duration within int64 nanoseconds, about 292 years; excess nanoseconds are carried to the seconds. */
export function checkedDuration(seconds: number, nanos: number): Duration | CelError {
  const carry = Math.floor(nanos / 1e9)
  const total = seconds + carry
  if (!(total >= -MAX_DURATION_SECONDS - 1 && total <= MAX_DURATION_SECONDS)) return TIME_RANGE
  return new Duration(total, nanos - carry * 1e9)
}

const NANOS_PER: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: 1_000_000_000n,
  ms: 1_000_000n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ns: 1n,
}

const DURATION = /^([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ms|us|µs|μs|ns|h|m|s))+$/
const DURATION_PART = /(\d*)(?:\.(\d*))?(ms|us|µs|μs|ns|h|m|s)/g

/** Reads a duration such as `1h30m`, `-1.5s`, `0`. */
export function parseCelDuration(text: string): Duration | CelError {
  if (text === '0' || text === '+0' || text === '-0') return new Duration(0, 0)
  if (text.length > 200 || !DURATION.test(text)) return new CelError('invalid', 'not a duration')
  let nanos = 0n
  // A part may have no digits on one side of the point: `BigInt('')` is 0.
  for (const [, whole, fraction = '', unit] of text.matchAll(DURATION_PART)) {
    const per = NANOS_PER[unit!]!
    nanos += BigInt(whole!) * per + (BigInt(fraction) * per) / 10n ** BigInt(fraction.length)
  }
  return durationOfNanos(text.startsWith('-') ? -nanos : nanos)
}

function durationOfNanos(nanos: bigint): Duration | CelError {
  const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n
  return checkedDuration(Number((nanos - rest) / 1_000_000_000n), Number(rest))
}

/** RFC 3339 in UTC, with as many digits of the second as needed. */
export function formatTimestamp({ seconds, nanos }: Timestamp): string {
  const date = new Date(seconds * 1000).toISOString().replace(/\.000Z$/, '')
  return `${date}${formatFraction(nanos)}Z`
}

/** Seconds with as many digits as needed: `1.5s`. */
export function formatDuration(duration: Duration): string {
  const negative = duration.seconds < 0
  const seconds = negative && duration.nanos > 0 ? duration.seconds + 1 : duration.seconds
  const nanos = negative && duration.nanos > 0 ? 1e9 - duration.nanos : duration.nanos
  return `${negative ? '-' : ''}${Math.abs(seconds)}${formatFraction(nanos)}s`
}

function formatFraction(nanos: number): string {
  return nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
}
