import { count } from '#base/count.ts'
import type { StyledText } from '../output.ts'
import type { RateRow, TrafficRates } from './traffic-rates.ts'

type Line = readonly StyledText[]

/** The size of a terminal; undefined: the output is no terminal, and everything is shown. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

const COLUMNS = ['req/s', '4xx', '5xx', 'p50', 'p99'] as const
const CELL_WIDTH = 8
/** Below this width of names, columns are left out from the right. */
const MIN_NAME_WIDTH = 12

/** Routes and backends by rate, fitted to the terminal. */
export function topLines(rates: TrafficRates, size: TerminalSize | undefined): readonly Line[] {
  const { time, inFlight, routes, backends, pods } = rates
  const total = routes.reduce((sum, { perSecond }) => sum + perSecond, 0)
  const where = pods === undefined ? '' : ` in ${count(pods.length, 'pod')}: ${pods.join(', ')}`
  const head = `${time.slice(11, 19)}  ${number(total)} req/s, ${inFlight} in flight${where}`
  const columns = size?.columns ?? 100
  // Besides the first line, two headings, and the last line, which stays empty.
  const room = size === undefined ? Number.POSITIVE_INFINITY : Math.max(0, size.rows - 4)
  const routeRoom = Math.max(Math.ceil(room / 2), room - backends.length)
  const lines = [
    [{ text: shorten(head, columns), style: 'bold' }] as const,
    ...table('ROUTE', routes.slice(0, routeRoom), columns),
    ...table('BACKEND', backends.slice(0, Math.max(0, room - Math.min(routes.length, routeRoom))), columns),
  ]
  return size === undefined ? lines : lines.slice(0, Math.max(1, size.rows - 1))
}

/** In place of the rates, while the gateway does not respond. */
export function waitingLines(text: string, { columns }: TerminalSize): readonly Line[] {
  return [[{ text: shorten(text, columns), style: 'red' }]]
}

function table(title: string, rows: readonly RateRow[], columns: number): Line[] {
  const shown = Math.max(0, Math.min(COLUMNS.length, Math.floor((columns - MIN_NAME_WIDTH) / (CELL_WIDTH + 1))))
  const width = Math.max(1, columns - shown * (CELL_WIDTH + 1))
  const heading = COLUMNS.slice(0, shown).map((name) => name.padStart(CELL_WIDTH))
  const lines = rows.map((row): Line => {
    const cells: readonly StyledText[] = [
      { text: number(row.perSecond) },
      { text: percent(row.clientErrorRatio), ...(row.clientErrorRatio > 0 && { style: 'yellow' }) },
      { text: percent(row.errorRatio), ...(row.errorRatio > 0 && { style: 'red' }) },
      { text: duration(row.p50Ms) },
      { text: duration(row.p99Ms) },
    ]
    return [
      { text: shorten(row.name === '' ? '(none)' : row.name, width).padEnd(width) },
      ...cells.slice(0, shown).map((cell) => ({ ...cell, text: cell.text.padStart(CELL_WIDTH) })),
    ]
  })
  return [[{ text: [shorten(title, width).padEnd(width), ...heading].join(' '), style: 'dim' }], ...lines]
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}

function number(value: number): string {
  if (value === 0) return '0'
  return value < 10 ? value.toFixed(1) : String(Math.round(value))
}

function percent(ratio: number): string {
  if (ratio === 0) return '-'
  return ratio < 0.01 ? '<1%' : `${Math.round(ratio * 100)}%`
}

function duration(ms: number | undefined): string {
  if (ms === undefined) return '-'
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
