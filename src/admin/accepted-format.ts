import type { MetricsFormat } from '#observe/metrics/write-family.ts'

/** Specificity of media ranges that include the classic text format (RFC 9110, 12.5.1). */
const CLASSIC_RANGES = ['text/plain', 'text/*', '*/*']
const OPEN_RANGE = 'application/openmetrics-text'
const OPEN_VERSION = '1.0.0'

interface Range {
  readonly type: string
  readonly version: string | undefined
  readonly quality: number
}

/** The text format for a scraper: OpenMetrics only if it names that, and likes it no less than the classic format. */
export function acceptedFormat(accept: string | undefined): MetricsFormat {
  const ranges = (accept ?? '').split(',').map(parseRange)
  const open = ranges.filter(
    ({ type, version }) => type === OPEN_RANGE && (version === undefined || version === OPEN_VERSION),
  )
  const openQuality = highest(open)
  return openQuality > 0 && openQuality >= classicQuality(ranges) ? 'openmetrics' : 'classic'
}

/** That of the most specific range. */
function classicQuality(ranges: readonly Range[]): number {
  const ofType = (wanted: string) => ranges.filter(({ type }) => type === wanted)
  return highest(CLASSIC_RANGES.map(ofType).find((found) => found.length > 0) ?? [])
}

function highest(ranges: readonly Range[]): number {
  return Math.max(0, ...ranges.map(({ quality }) => quality))
}

/** A quality that is no number counts as 0. */
function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const parameter = (name: string) =>
    parameters
      .find((text) => text.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .replaceAll('"', '')
  return { type, version: parameter('version'), quality: Number(parameter('q') ?? 1) || 0 }
}
