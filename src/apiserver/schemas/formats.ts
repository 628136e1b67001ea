import { parseIpAddress } from '#base/ip-address.ts'
import { parseIpNetwork } from '#base/ip-network.ts'

/**
 * Formats of texts that an API server of Kubernetes checks in custom resources (go-openapi, strfmt). Names are compared without `-`; all
 * others are descriptions only.
 */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matching(/^[0-9a-fA-F]{24}$/),
  uri: isUri,
  email: matching(/^(?:[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+|[^<>]*<[^\s@<>]+@[^\s@<>]+>)$/),
  hostname: isHostname,
  ipv4: (text) => !text.includes(':') && parseIpAddress(text) !== undefined,
  ipv6: (text) => text.includes(':') && parseIpAddress(text) !== undefined,
  cidr: (text) => parseIpNetwork(text) !== undefined,
  mac: matching(
    /^(?:(?:[0-9a-f]{2}[:-]){5}|(?:[0-9a-f]{2}[:-]){7}|(?:[0-9a-f]{2}[:-]){19})[0-9a-f]{2}$|^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$|^(?:[0-9a-f]{4}\.){3}[0-9a-f]{4}$/i,
  ),
  uuid: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid4: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  uuid5: matching(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  ssn: matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matching(
    /^rgb\(\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*(?:,\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*){2}\)$/,
  ),
  byte: matching(/^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text),
  k8slongname: (text) =>
    text.length <= 253 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(text),
}

/** Whether a text has a format; every text has an unknown format. */
export function hasFormat(text: string, format: string): boolean {
  const name = format.replaceAll('-', '')
  return !Object.hasOwn(FORMATS, name) || FORMATS[name]!(text)
}

function matching(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text)
}

/** What Go takes as the target of a request: a URI with scheme, or an absolute path. */
function isUri(text: string): boolean {
  if (!/^[^\s\p{Cc}]+$/u.test(text)) return false
  return text.startsWith('/') || (/^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text))
}

const HOST_LABEL = /^(?!-)[\p{L}\p{N}_-]{1,63}(?<!-)$/u

function isHostname(text: string): boolean {
  return (
    text.length > 0 &&
    text.length <= 255 &&
    text
      .replace(/\.$/, '')
      .split('.')
      .every((label) => HOST_LABEL.test(label))
  )
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[- ]/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  const sum = [...digits].reduce(
    (total, digit, index) => total + (10 - index) * (digit === 'X' ? 10 : Number(digit)),
    0,
  )
  return sum % 11 === 0
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[- ]/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  return [...digits].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return false
  const lastDay = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate()
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= lastDay
}

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})t(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:z|[+-]\d{2}:\d{2})$/i

function isDateTime(text: string): boolean {
  const [, date, hours, minutes, seconds] = DATE_TIME.exec(text) ?? []
  if (date === undefined || !isDate(date)) return false
  return Number(hours) <= 23 && Number(minutes) <= 59 && Number(seconds) <= 59
}

const GO_DURATION = /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const WORD_DURATION =
  /^\s*\d+\s*(?:ns|nanos?|nanoseconds?|us|µs|μs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)\s*$/i

function isDuration(text: string): boolean {
  return GO_DURATION.test(text) || WORD_DURATION.test(text)
}
