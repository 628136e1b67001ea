import type { Attempt } from '#exchange/exchange.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import type { Ended } from '../ended.ts'
import { ByPlace } from './by-place.ts'
import { labelReader } from './labels.ts'
import { MCP_FIELDS, ROUTE_FIELDS } from './metrics.ts'
import type { MetricsWriter, Series } from './metrics-writer.ts'

const readMcpLabels = labelReader(MCP_FIELDS)
const readPlaceLabels = labelReader(ROUTE_FIELDS)

/** Counts MCP messages and measures the calls of their targets. */
export class McpMetrics {
  readonly #writer: MetricsWriter
  /** Durations by target; targets are configured. */
  readonly #durations = new ByPlace(() => new Map<string, Series>())

  constructor(writer: MetricsWriter) {
    this.#writer = writer
  }

  record(ended: Ended, { method, strayAnswers }: McpFacts): void {
    if (method !== undefined) {
      const labels = [...readMcpLabels(ended), ...ended.customValues]
      this.#writer.series('mcpRequests', labels, ended.customNames).add(1, ended.exemplar)
      for (const attempt of ended.exchange.attempts ?? []) this.#observeCall(ended, attempt)
    }
    if (strayAnswers === undefined) return
    for (const [target, count] of strayAnswers) {
      const labels = [target, ...readPlaceLabels(ended), ...ended.customValues]
      this.#writer.series('mcpStrayAnswers', labels, ended.customNames).add(count, ended.exemplar)
    }
  }

  #observeCall(ended: Ended, { endpoint, sentMs, answeredMs, endedMs = answeredMs }: Attempt): void {
    if (sentMs === undefined || endedMs === undefined) return
    this.#durationOf(ended, endpoint).observe((endedMs - sentMs) / 1000, ended.exemplar)
  }

  #durationOf(ended: Ended, endpoint: string): Series {
    const { customNames, customValues } = ended
    const find = () =>
      this.#writer.series('mcpTargetDuration', [endpoint, ...readPlaceLabels(ended), ...customValues], customNames)
    // Custom values differ between requests of a place.
    if (customNames.length > 0) return find()
    const known = this.#durations.of(ended.exchange)
    let series = known.get(endpoint)
    if (series === undefined) {
      series = find()
      known.set(endpoint, series)
    }
    return series
  }
}
