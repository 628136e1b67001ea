import { MetricsReader } from './metrics-reader.ts'
import { MetricsWriter } from './metrics-writer.ts'

/** Support for tests: the metrics of some workers, and what a scrape shows of them. */
export function workers(count: number) {
  /** Labels, by whom they were folded: each time in the reader, the first time anywhere. */
  const folded: string[] = []
  const firstFolded: string[] = []
  const reader = new MetricsReader({
    hide: (text) => text.replaceAll('hunter22', '<redacted>'),
    folded: (label) => folded.push(label),
    firstFolded: (label, place) => firstFolded.push(`${label} ${place.join(' ')}`),
  })
  const writers = Array.from(
    { length: count },
    (_, i) => new MetricsWriter((update) => reader.add(`w${i + 1}`, update)),
  )
  /** The lines of one metric, without the names of others. */
  const lines = (name: string, format: 'classic' | 'openmetrics' = 'classic') =>
    reader
      .text([], format)
      .split('\n')
      .filter((line) => line.startsWith(`gatewright_${name}`))
  return { reader, folded, firstFolded, writers: writers as [MetricsWriter, ...MetricsWriter[]], lines }
}
