import type { Sample } from './measure.ts'
import type { Suite } from './suite.ts'

export interface Row {
  readonly name: string
  readonly samples: readonly Sample[]
}

/** A Markdown table of medians, with ratios to the first row that has a proxy, and the observed noise. */
export function formatTable({ name, about, unit }: Suite, rows: readonly Row[]): string {
  const base = rows.find(({ samples }) => samples[0]?.cpuUs !== undefined)
  const head = [
    'candidate',
    `CPU us/${unit}`,
    `CPU vs ${base?.name}`,
    `${unit}s/s per core`,
    `${unit}s/s seen`,
    'p50 ms',
    'p99 ms',
    'RSS MB',
    'errors',
  ]
  return [
    `## ${name}`,
    about,
    '',
    line(head),
    line(head.map((_, index) => (index === 0 ? '---' : '---:'))),
    ...rows.map((row) => line(cells(row, base))),
    '',
    ...slowShares(rows),
    noise(rows),
  ].join('\n')
}

function cells({ name, samples }: Row, base: Row | undefined): string[] {
  const cpuUs = median(cpus(samples))
  const baseUs = median(cpus(base?.samples ?? []))
  return [
    name,
    format(cpuUs, 1),
    format(cpuUs / baseUs, 2),
    format(1e6 / cpuUs, 0),
    format(median(samples.map(({ perSecond }) => perSecond)), 0),
    format(median(samples.map(({ p50Us }) => p50Us / 1000)), 2),
    format(median(samples.map(({ p99Us }) => p99Us / 1000)), 2),
    format(median(samples.flatMap(({ residentMb }) => residentMb ?? [])), 0),
    format(
      samples.reduce((sum, { errors }) => sum + errors, 0),
      0,
    ),
  ]
}

/** A line for suites with a slow endpoint. */
function slowShares(rows: readonly Row[]): string[] {
  const shares = rows
    .map(({ name, samples }) => ({ name, values: samples.flatMap(({ slowShare }) => slowShare ?? []) }))
    .filter(({ values }) => values.length > 0)
    .map(({ name, values }) => `${name} ${format(median(values), 2)}`)
  return shares.length === 0 ? [] : [`Requests of the slow endpoint, relative to a fair share: ${shares.join(', ')}.`]
}

function noise(rows: readonly Row[]): string {
  const spreads = rows
    .map(({ name, samples }) => ({ name, values: cpus(samples) }))
    .filter(({ values }) => values.length > 0)
    .map(({ name, values }) => `${name} ${format(Math.min(...values), 1)} to ${format(Math.max(...values), 1)}`)
  const foreign = Math.max(...rows.flatMap(({ samples }) => samples.map(({ foreignCores }) => foreignCores)))
  return `Noise: CPU us from ${spreads.join(', ')}; other programs took up to ${format(100 * foreign, 0)}% of a core.`
}

function cpus(samples: readonly Sample[]): number[] {
  return samples.flatMap(({ cpuUs }) => cpuUs ?? [])
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? sorted[middle]!
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

function format(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-'
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
