import { charge } from '../budget.ts'
import { CelError } from '../error.ts'
import { define, type Overload } from '../overload.ts'
import type { Duration, Result, Timestamp } from '../value.ts'
import { WEIGHTS } from '../weights.ts'

type Field = (local: Date, time: Timestamp) => number

const FIELDS: Readonly<Record<string, Field>> = {
  getFullYear: (local) => local.getUTCFullYear(),
  getMonth: (local) => local.getUTCMonth(),
  getDate: (local) => local.getUTCDate(),
  getDayOfMonth: (local) => local.getUTCDate() - 1,
  getDayOfWeek: (local) => local.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (local) => local.getUTCHours(),
  getMinutes: (local) => local.getUTCMinutes(),
  getSeconds: (local) => local.getUTCSeconds(),
  getMilliseconds: (_, time) => Math.floor(time.nanos / 1e6),
}

/** Parts of timestamps, in UTC or in a named or numeric time zone, and of durations. */
export const TIME_FUNCTIONS: readonly Overload[] = [
  ...Object.entries(FIELDS).flatMap(([name, field]) => [
    define(`(timestamp).${name}() -> int`, (time: Timestamp) => field(new Date(time.seconds * 1000), time)),
    define(`(timestamp).${name}(string) -> int`, (time: Timestamp, zone: string) => inZone(time, zone, field)),
  ]),
  define('(duration).getHours() -> int', (span: Duration) => Math.trunc(secondsOf(span) / 3600) + 0),
  define('(duration).getMinutes() -> int', (span: Duration) => Math.trunc(secondsOf(span) / 60) + 0),
  define('(duration).getSeconds() -> int', (span: Duration) => secondsOf(span)),
  define('(duration).getMilliseconds() -> int', (span: Duration) => milliseconds(span)),
]

/** Whole seconds, truncated towards zero. */
function secondsOf(span: Duration): number {
  return span.seconds < 0 && span.nanos > 0 ? span.seconds + 1 : span.seconds
}

/** The milliseconds after the whole seconds, as the language defines: not the total. */
function milliseconds(span: Duration): number {
  const nanos = span.seconds < 0 && span.nanos > 0 ? span.nanos - 1e9 : span.nanos
  return Math.trunc(nanos / 1e6) + 0
}

function dayOfYear(local: Date): number {
  const start = new Date(local)
  start.setUTCMonth(0, 1)
  return Math.round((local.getTime() - start.getTime()) / 86_400_000)
}

function inZone(time: Timestamp, zone: string, field: Field): Result {
  const offset = offsetSeconds(time, zone)
  if (offset === undefined) return new CelError('invalid', 'unknown time zone')
  return field(new Date((time.seconds + offset) * 1000), time)
}

const NUMERIC_ZONE = /^([+-]?)(\d\d):(\d\d)$/

function offsetSeconds(time: Timestamp, zone: string): number | undefined {
  const numeric = NUMERIC_ZONE.exec(zone)
  if (numeric !== null) return (Number(numeric[2]) * 60 + Number(numeric[3])) * (numeric[1] === '-' ? -60 : 60)
  const format = formatOf(zone)
  if (format === undefined) return undefined
  const parts: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(time.seconds * 1000)) parts[type] = Number(value)
  const local = new Date(0)
  local.setUTCFullYear(parts.year!, parts.month! - 1, parts.day!)
  local.setUTCHours(parts.hour!, parts.minute!, parts.second!)
  return local.getTime() / 1000 - time.seconds
}

/** Cached, because creating a format is slow and few zones are in use. */
const formats = new Map<string, Intl.DateTimeFormat | undefined>()
const MAX_FORMATS = 100

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  if (formats.has(zone)) return formats.get(zone)
  charge(WEIGHTS.timeZone)
  const format = createFormat(zone)
  if (formats.size < MAX_FORMATS) formats.set(zone, format)
  return format
}

function createFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  const numeric = 'numeric'
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
  } catch {
    return undefined
  }
}
