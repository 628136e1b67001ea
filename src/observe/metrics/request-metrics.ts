import type { Exchange } from '#exchange/exchange.ts'
import { type LlmFacts, type LlmTokens, msPerOutputToken } from '#exchange/llm-facts.ts'
import { NANODOLLARS } from '#exchange/llm-prices.ts'
import type { Ended } from '../ended.ts'
import { ByPlace } from './by-place.ts'
import { observeCall, observeCallouts, observeGuards } from './call-metrics.ts'
import { ForwardingMetrics } from './forwarding-metrics.ts'
import { METHODS } from './known-values.ts'
import { labelReader } from './labels.ts'
import { McpMetrics } from './mcp-metrics.ts'
import { A2A_FIELDS, LLM_ERROR_FIELDS, LLM_FIELDS, type MetricId, REQUEST_FIELDS, ROUTE_FIELDS } from './metrics.ts'
import type { MetricsWriter, Series } from './metrics-writer.ts'
import { valuesKey } from './series-key.ts'
import { countUpstreamFailures } from './upstream-metrics.ts'

/** Maximum number of series that a place caches, and the longest key: clients may influence both with custom labels. */
const MAX_KNOWN = 1000
const MAX_KEY_LENGTH = 1024

const readRequestLabels = labelReader(REQUEST_FIELDS)
const readLlmLabels = labelReader(LLM_FIELDS)
const readLlmErrorLabels = labelReader(LLM_ERROR_FIELDS)
const MODEL_LABEL = LLM_FIELDS.indexOf('gen_ai.request.model')
const readA2aLabels = labelReader(A2A_FIELDS)
const readPlaceLabels = labelReader(ROUTE_FIELDS)

/** The series of requests with the same labels. */
interface RequestSeries {
  readonly requests: Series
  readonly duration: Series
  readonly bytes: Series
  readonly forwarding: ForwardingMetrics
  /** Created with the first retry. */
  retries: Series | undefined
  readonly labels: readonly string[]
}

interface PlaceSeries {
  /** Most requests of a place have the same labels as the previous one. */
  last:
    | { readonly method: string; readonly status: number; readonly reason: string; readonly series: RequestSeries }
    | undefined
  readonly byLabels: Map<string, RequestSeries>
}

/** Values of `gen_ai_token_type`. Input includes the tokens that were read from a cache or written to it. */
const TOKENS = {
  input: 'inputTokens',
  output: 'outputTokens',
  input_cache_read: 'cachedInputTokens',
  input_cache_write: 'cacheCreationInputTokens',
} as const satisfies Record<string, keyof LlmTokens>
type TokenType = keyof typeof TOKENS
const TOKEN_TYPES = Object.keys(TOKENS) as TokenType[]

/** The series of LLM calls with the same labels; each is created when it is first needed. */
class LlmSeries {
  readonly #writer: MetricsWriter
  readonly #call: Pick<LlmFacts, 'operation' | 'provider' | 'requestModel' | 'knownModel' | 'responseModel'>
  readonly #labels: readonly string[]
  readonly #names: readonly string[]
  readonly #series = new Map<string, Series>()

  constructor(writer: MetricsWriter, call: LlmFacts, labels: readonly string[], names: readonly string[]) {
    const { operation, provider, requestModel, knownModel, responseModel } = call
    this.#writer = writer
    this.#call = { operation, provider, requestModel, knownModel, responseModel }
    this.#labels = labels
    this.#names = names
  }

  isOf({ operation, provider, requestModel, knownModel, responseModel }: LlmFacts): boolean {
    const call = this.#call
    return (
      call.operation === operation &&
      call.provider === provider &&
      call.requestModel === requestModel &&
      call.knownModel === knownModel &&
      call.responseModel === responseModel
    )
  }

  of(metric: 'llmDuration' | 'firstToken' | 'perToken' | 'cost'): Series {
    return this.#find(metric, metric, [])
  }

  tokens(type: TokenType): Series {
    return this.#find(type, 'tokens', [type])
  }

  lookups(outcome: 'found' | 'incomplete' | 'unknown'): Series {
    return this.#find(outcome, 'costLookups', [outcome])
  }

  #find(key: string, metric: MetricId, ownLabels: readonly string[]): Series {
    let series = this.#series.get(key)
    if (series === undefined) {
      series = this.#writer.series(metric, [...ownLabels, ...this.#labels], this.#names)
      this.#series.set(key, series)
    }
    return series
  }
}

/** No provider was asked, so this is no call of a model. */
function isRefusedUnsent({ refusal, sentMonotonicMs }: Exchange): boolean {
  return refusal !== undefined && sentMonotonicMs === 0
}

/** Maximum number of models of a place that are known from responses only, and the longest name of one. */
const MAX_NAMED_MODELS = 200
const MAX_MODEL_LENGTH = 256

/** The LLM calls of a place. */
class LlmPlace {
  /** Most calls have the same labels as the previous one. */
  last: LlmSeries | undefined
  /** Models that a provider has confirmed by naming them in a response. */
  readonly #named = new Set<string>()

  /**
   * The value of the label for the request model. A client can invent names, so a name needs a witness: configuration, the catalogue, or a
   * response.
   */
  modelLabel({ requestModel, knownModel, responseModel }: LlmFacts): string {
    if (requestModel === '') return 'unknown'
    if (
      requestModel === responseModel &&
      requestModel.length <= MAX_MODEL_LENGTH &&
      this.#named.size < MAX_NAMED_MODELS
    ) {
      this.#named.add(requestModel)
    }
    return this.#named.has(requestModel) ? requestModel : (knownModel ?? 'other')
  }
}

/**
 * Counts requests. Each place keeps the series that its requests use, so most requests cause no look-up by name; MCP messages and failed
 * attempts do, once per count.
 */
export class RequestMetrics {
  readonly #writer: MetricsWriter
  readonly #places = new ByPlace((): PlaceSeries => ({ last: undefined, byLabels: new Map() }))
  readonly #llmPlaces = new ByPlace(() => new LlmPlace())
  readonly #mcp: McpMetrics

  constructor(writer: MetricsWriter) {
    this.#writer = writer
    this.#mcp = new McpMetrics(writer)
  }

  record(ended: Ended, sentBytes: number): void {
    const { exchange, durationMs, exemplar } = ended
    const series = this.#seriesOf(ended)
    series.requests.add(1, exemplar)
    series.duration.observe(durationMs / 1000, exemplar)
    if (sentBytes > 0) series.bytes.add(sentBytes, exemplar)
    series.forwarding.record(ended)
    if (exchange.retries > 0) {
      series.retries ??= this.#writer.series('retries', series.labels, ended.customNames)
      series.retries.add(exchange.retries, exemplar)
    }
    if (exchange.unsentDescriptors > 0) this.#addAtPlace('unsentDescriptors', ended, exchange.unsentDescriptors)
    if (exchange.failedCosts > 0) this.#addAtPlace('failedCosts', ended, exchange.failedCosts)
    if (exchange.calls !== undefined) for (const call of exchange.calls.take()) observeCall(this.#writer, call, ended)
    if (exchange.callouts !== undefined) observeCallouts(this.#writer, exchange.callouts, ended)
    if (exchange.guardChecks !== undefined) observeGuards(this.#writer, exchange.guardChecks, ended)
    if (exchange.attempts !== undefined) countUpstreamFailures(this.#writer, ended)
    if (exchange.llm !== undefined && !isRefusedUnsent(exchange)) this.#recordLlm(ended, exchange.llm)
    if (exchange.a2a !== undefined) this.#recordA2a(ended)
    if (exchange.mcp !== undefined) this.#mcp.record(ended, exchange.mcp)
  }

  #addAtPlace(metric: MetricId, ended: Ended, count: number): void {
    this.#writer
      .series(metric, [...readPlaceLabels(ended), ...ended.customValues], ended.customNames)
      .add(count, ended.exemplar)
  }

  #seriesOf(ended: Ended): RequestSeries {
    const { exchange, status, reason } = ended
    const known = this.#places.of(exchange)
    const { last } = known
    const isPlain = ended.customNames.length === 0
    if (isPlain && last?.status === status && last.reason === reason && last.method === exchange.originalMethod) {
      return last.series
    }
    const series = this.#findSeries(known.byLabels, ended)
    known.last = isPlain ? { method: exchange.originalMethod, status, reason, series } : undefined
    return series
  }

  #findSeries(known: Map<string, RequestSeries>, ended: Ended): RequestSeries {
    const { exchange, status, reason } = ended
    const custom = ended.customValues
    // The labels that differ between requests of a place.
    const method = METHODS.has(exchange.originalMethod) ? exchange.originalMethod : ''
    const key = `${method}${status}${reason}${valuesKey(custom)}`
    let series = known.get(key)
    if (series === undefined) {
      series = this.#create([...readRequestLabels(ended), ...custom], ended.customNames)
      if (known.size < MAX_KNOWN && key.length <= MAX_KEY_LENGTH) known.set(key, series)
    }
    return series
  }

  #create(labels: readonly string[], names: readonly string[]): RequestSeries {
    return {
      requests: this.#writer.series('requests', labels, names),
      duration: this.#writer.series('duration', labels, names),
      bytes: this.#writer.series('responseBytes', labels, names),
      forwarding: new ForwardingMetrics(this.#writer),
      retries: undefined,
      labels,
    }
  }

  #recordLlm(ended: Ended, llm: LlmFacts): void {
    const { exemplar } = ended
    const series = this.#llmSeriesOf(ended, llm)
    series.of('llmDuration').observe(ended.durationMs / 1000, exemplar)
    for (const type of TOKEN_TYPES) {
      const count = llm[TOKENS[type]]
      if (count !== undefined) series.tokens(type).observe(count, exemplar)
    }
    const { context } = ended.exchange
    const cost = context.prices.costOf(llm, context.now())
    series.lookups(cost === undefined ? 'unknown' : cost.total === undefined ? 'incomplete' : 'found').add(1, exemplar)
    if (cost?.total !== undefined) series.of('cost').add(cost.total / NANODOLLARS, exemplar)
    if (llm.errorType !== undefined) {
      this.#writer
        .series('llmErrors', [...readLlmErrorLabels(ended), ...ended.customValues], ended.customNames)
        .add(1, ended.exemplar)
    }
    if (llm.timeToFirstTokenMs === undefined) return
    series.of('firstToken').observe(llm.timeToFirstTokenMs / 1000, exemplar)
    const perTokenMs = msPerOutputToken(llm, ended.durationMs)
    if (perTokenMs !== undefined) series.of('perToken').observe(perTokenMs / 1000, exemplar)
  }

  #llmSeriesOf(ended: Ended, llm: LlmFacts): LlmSeries {
    const place = this.#llmPlaces.of(ended.exchange)
    const isPlain = ended.customNames.length === 0
    if (isPlain && place.last?.isOf(llm)) return place.last
    const labels = readLlmLabels(ended)
    labels[MODEL_LABEL] = place.modelLabel(llm)
    const series = new LlmSeries(this.#writer, llm, [...labels, ...ended.customValues], ended.customNames)
    if (isPlain) place.last = series
    return series
  }

  #recordA2a(ended: Ended): void {
    const labels = [...readA2aLabels(ended), ...ended.customValues]
    this.#writer.series('a2aRequests', labels, ended.customNames).add(1, ended.exemplar)
  }
}
