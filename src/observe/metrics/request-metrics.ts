import { type Exchange, NOWHERE, type PlaceNames } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Observed, ObserveSettings } from '../observer.ts'
import { customNames, customValues, routeLabels, unknownIfEmpty } from './labels.ts'
import type { MetricsWriter, Series } from './metrics-writer.ts'
import { countUpstreamFailures } from './upstream-metrics.ts'

/** How many series a place remembers, and by how long a text: with labels of their own, clients may choose both. */
const MAX_KNOWN = 1000
const MAX_KEY_LENGTH = 1024

/** The series of requests that agree on every label. */
interface RequestSeries {
  readonly requests: Series
  readonly duration: Series
  readonly bytes: Series
  readonly labels: readonly string[]
}

interface PlaceSeries {
  /** Most requests of a place end like the one before. */
  last:
    | { readonly method: string; readonly status: number; readonly reason: string; readonly series: RequestSeries }
    | undefined
  readonly byLabels: Map<string, RequestSeries>
}

/** The series of LLM calls that agree on every label; each begins when there is something to count in it. */
class LlmSeries {
  readonly #writer: MetricsWriter
  readonly #call: Pick<LlmFacts, 'operation' | 'provider' | 'requestModel' | 'responseModel'>
  readonly #labels: readonly string[]
  readonly #names: readonly string[]
  #duration: Series | undefined
  #input: Series | undefined
  #output: Series | undefined
  #firstToken: Series | undefined

  constructor(writer: MetricsWriter, call: LlmFacts, labels: readonly string[], names: readonly string[]) {
    const { operation, provider, requestModel, responseModel } = call
    this.#writer = writer
    this.#call = { operation, provider, requestModel, responseModel }
    this.#labels = labels
    this.#names = names
  }

  isOf({ operation, provider, requestModel, responseModel }: LlmFacts): boolean {
    const call = this.#call
    return (
      call.operation === operation &&
      call.provider === provider &&
      call.requestModel === requestModel &&
      call.responseModel === responseModel
    )
  }

  get duration(): Series {
    this.#duration ??= this.#writer.series('llmDuration', this.#labels, this.#names)
    return this.#duration
  }

  get input(): Series {
    this.#input ??= this.#writer.series('tokens', ['input', ...this.#labels], this.#names)
    return this.#input
  }

  get output(): Series {
    this.#output ??= this.#writer.series('tokens', ['output', ...this.#labels], this.#names)
    return this.#output
  }

  get firstToken(): Series {
    this.#firstToken ??= this.#writer.series('firstToken', this.#labels, this.#names)
    return this.#firstToken
  }
}

// Labels take no name that a client made up: it could fill the limit of series.

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT'])

/** Requests and notifications of MCP clients (revision 2025-11-25). */
const KNOWN_MCP_METHODS = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
])

/** JSON-RPC and MCP errors that say that there is nothing of this name. */
const UNKNOWN_ITEM: ReadonlySet<number | undefined> = new Set([-32602, -32002])

/** Counts requests. Series are found by the identity of the place, so that nothing is looked up by name for each request. */
export class RequestMetrics {
  readonly #writer: MetricsWriter
  readonly #places = new WeakMap<PlaceNames, PlaceSeries>()
  /** Most LLM calls of a place are like the one before. */
  readonly #lastLlm = new WeakMap<PlaceNames, LlmSeries>()

  constructor(writer: MetricsWriter) {
    this.#writer = writer
  }

  record(request: Observed, durationMs: number, sentBytes: number): void {
    const { exchange, settings } = request
    const series = this.#seriesOf(request)
    const seconds = durationMs / 1000
    series.requests.add(1)
    series.duration.observe(seconds)
    if (sentBytes > 0) series.bytes.add(sentBytes)
    if (exchange.retries > 0) {
      this.#writer.series('retries', series.labels, customNames(settings)).add(exchange.retries)
    }
    if (exchange.attempts !== undefined) countUpstreamFailures(this.#writer, exchange, settings)
    if (exchange.llm !== undefined) this.#recordLlm(exchange, settings, seconds)
    if (exchange.mcp?.method !== undefined) this.#recordMcp(exchange, settings)
    if (exchange.mcp?.strayAnswers !== undefined) this.#recordStrayAnswers(exchange, exchange.mcp.strayAnswers)
  }

  #seriesOf(request: Observed): RequestSeries {
    const { exchange, settings, status } = request
    const place = exchange.place ?? NOWHERE
    let known = this.#places.get(place)
    if (known === undefined) {
      known = { last: undefined, byLabels: new Map() }
      this.#places.set(place, known)
    }
    const { last } = known
    const isPlain = settings === undefined || settings.metricLabels.length === 0
    if (
      isPlain &&
      last?.status === status &&
      last.reason === exchange.reason &&
      last.method === exchange.originalMethod
    ) {
      return last.series
    }
    const series = this.#findSeries(place, known.byLabels, request)
    known.last = isPlain ? { method: exchange.originalMethod, status, reason: exchange.reason, series } : undefined
    return series
  }

  #findSeries(place: PlaceNames, known: Map<string, RequestSeries>, request: Observed): RequestSeries {
    const { exchange, settings, status } = request
    const method = KNOWN_METHODS.has(exchange.originalMethod) ? exchange.originalMethod : 'other'
    const custom = customValues(exchange, settings)
    const key =
      custom.length === 0
        ? `${method}${status}${exchange.reason}`
        : `${method}${status}${exchange.reason}\n${custom.join('\n')}`
    let series = known.get(key)
    if (series === undefined) {
      series = this.#create(place, [method, String(status), exchange.reason], custom, customNames(settings))
      if (known.size < MAX_KNOWN && key.length <= MAX_KEY_LENGTH) known.set(key, series)
    }
    return series
  }

  #create(
    place: PlaceNames,
    outcome: readonly string[],
    custom: readonly string[],
    names: readonly string[],
  ): RequestSeries {
    const labels = [
      unknownIfEmpty(place.backend),
      unknownIfEmpty(place.protocol),
      ...outcome,
      ...routeLabels(place),
      ...custom,
    ]
    return {
      requests: this.#writer.series('requests', labels, names),
      duration: this.#writer.series('duration', labels, names),
      bytes: this.#writer.series('responseBytes', labels, names),
      labels,
    }
  }

  #recordLlm(exchange: Exchange, settings: ObserveSettings | undefined, seconds: number): void {
    const llm = exchange.llm!
    const series = this.#llmSeriesOf(exchange, llm, settings)
    series.duration.observe(seconds)
    if (llm.inputTokens !== undefined) series.input.observe(llm.inputTokens)
    if (llm.outputTokens !== undefined) series.output.observe(llm.outputTokens)
    if (llm.timeToFirstTokenMs !== undefined) series.firstToken.observe(llm.timeToFirstTokenMs / 1000)
  }

  #llmSeriesOf(exchange: Exchange, llm: LlmFacts, settings: ObserveSettings | undefined): LlmSeries {
    const { operation, provider, requestModel, responseModel } = llm
    const place = exchange.place ?? NOWHERE
    const isPlain = settings === undefined || settings.metricLabels.length === 0
    const last = isPlain ? this.#lastLlm.get(place) : undefined
    if (last?.isOf(llm)) return last
    const labels = [
      operation ?? 'unknown',
      provider,
      unknownIfEmpty(requestModel),
      responseModel ?? 'unknown',
      ...routeLabels(place),
      ...customValues(exchange, settings),
    ]
    const series = new LlmSeries(this.#writer, llm, labels, customNames(settings))
    if (isPlain) this.#lastLlm.set(place, series)
    return series
  }

  #recordStrayAnswers({ place = NOWHERE }: Exchange, strayAnswers: ReadonlyMap<string, number>): void {
    for (const [target, count] of strayAnswers) {
      this.#writer.series('mcpStrayAnswers', [target, ...routeLabels(place)]).add(count)
    }
  }

  #recordMcp(exchange: Exchange, settings: ObserveSettings | undefined): void {
    const { method, resourceType, target, name, errorCode } = exchange.mcp!
    const labels = [
      KNOWN_MCP_METHODS.has(method!) ? method! : 'other',
      resourceType ?? 'unknown',
      target ?? 'unknown',
      UNKNOWN_ITEM.has(errorCode) ? 'unknown' : (name ?? 'unknown'),
      ...routeLabels(exchange.place ?? NOWHERE),
      ...customValues(exchange, settings),
    ]
    this.#writer.series('mcpRequests', labels, customNames(settings)).add(1)
  }
}
