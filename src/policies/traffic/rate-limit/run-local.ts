import { count } from '#base/count.ts'
import { readsCredentials } from '#exchange/credential-reads.ts'
import type { Exchange, QueuedHeader } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { type Outcome, proceed } from '#exchange/outcome.ts'
import type { Limit, TokenBucket } from '#state/token-bucket.ts'
import type { ValueBuckets } from '#state/value-buckets.ts'
import { refuseUntil } from './refuse-until.ts'

/** One entry of `local`. */
export type LocalLimit = {
  readonly unit: 'requests' | 'tokens'
  /** Its policy and path, for operators. */
  readonly where: string
} & (
  | { readonly bucket: TokenBucket; readonly key?: undefined }
  /** A bucket for each value of `key` (decision A-133). */
  | { readonly bucket: ValueBuckets; readonly key: Expression }
)

export interface LocalLimits {
  readonly all: readonly LocalLimit[]
  readonly requests: readonly Limit[]
  readonly tokens: readonly Limit[]
  readonly byKey: readonly Extract<LocalLimit, { readonly key: Expression }>[]
}

/**
 * Takes one request from all limits or, if one is exhausted, from none (decision A-79). Token limits must have one token left; the tokens
 * of the request are charged when they are known (`chargeTokens`).
 */
export function runLocalLimits(limits: LocalLimits, exchange: Exchange): Outcome {
  const { requests, tokens, byKey } = limits
  for (let i = 0; i < byKey.length; i++) byKey[i]!.bucket.select(byKey[i]!.key.keyText(exchange))
  if (exchange.trace !== undefined) traceLimits(limits, exchange)
  if (tokens.length > 0) exchange.tokenLimits = byKey.length === 0 ? tokens : tokens.map((bucket) => bucket.held())
  const exhausted = tokens.find((bucket) => bucket.remaining() < 1) ?? takeFromAll(requests)
  if (exhausted !== undefined) return refuse(exhausted, limits, exchange)
  const tight = tightest(requests, tokens)
  if (tight !== undefined) setHeaders(tight, tight.resetMs(), exchange)
  return proceed
}

const UNIT_NAMES: Readonly<Record<number, string>> = { 1000: 'second', 60000: 'minute', 3600000: 'hour' }

function refuse(exhausted: Limit, { all }: LocalLimits, exchange: Exchange): Outcome {
  const resetMs = exhausted.resetMs()
  setHeaders(exhausted, resetMs, exchange)
  const entry = all.find(({ bucket }) => bucket === exhausted)!
  const { rate, capacity, unitMs } = exhausted.settings
  const burst = capacity > rate ? ` (burst ${capacity - rate})` : ''
  const limit = `${count(rate, entry.unit.slice(0, -1))} per ${UNIT_NAMES[unitMs]}${burst}`
  return refuseUntil(resetMs / 1000, limit, { detail: entry.where }, exchange)
}

/** Tells `explain` which buckets a request takes from. */
function traceLimits({ all }: LocalLimits, exchange: Exchange): void {
  for (const { unit, bucket, key } of all) {
    const { capacity, unitMs } = bucket.settings
    const traced = key && { expression: key.source, value: key.keyText(exchange), isSecret: readsCredentials(key) }
    exchange.trace?.limit({ unit, capacity, unitMs, key: traced })
  }
}

/**
 * Charges the tokens of an LLM request that have not been charged; this limits later requests (specification 2, 2.2.8).
 * @param total all its tokens so far, input and output together
 */
export function chargeTokens(exchange: Exchange, total: number): void {
  const { tokenLimits, chargedTokens } = exchange
  if (tokenLimits === undefined || total <= chargedTokens) return
  exchange.chargedTokens = total
  for (const limit of tokenLimits) limit.drain(total - chargedTokens)
}

/** @returns the first exhausted bucket; the taken tokens are then returned to the others */
function takeFromAll(buckets: readonly Limit[]): Limit | undefined {
  for (let i = 0; i < buckets.length; i++) {
    if (buckets[i]!.take(1)) continue
    for (let taken = 0; taken < i; taken++) buckets[taken]!.give(1)
    return buckets[i]
  }
  return undefined
}

function tightest(requests: readonly Limit[], tokens: readonly Limit[]): Limit | undefined {
  if (requests.length === 1 && tokens.length === 0) return requests[0]
  let tight: Limit | undefined
  let least = Number.POSITIVE_INFINITY
  for (const buckets of [requests, tokens]) {
    for (const bucket of buckets) {
      const remaining = bucket.remaining()
      if (remaining >= least) continue
      tight = bucket
      least = remaining
    }
  }
  return tight
}

/** Whole seconds until the next tokens, rounded down. */
function setHeaders({ settings, level }: Limit, resetMs: number, exchange: Exchange): void {
  queueLimitHeaders(settings.capacity, level, Math.floor(resetMs / 1000), exchange)
}

/** A header with a number, kept for the next request: most have the same limit and the same second. */
class NumberHeader {
  readonly #name: string
  #number = Number.NaN
  #header: QueuedHeader = ['', '']

  constructor(name: string) {
    this.#name = name
  }

  of(number: number): QueuedHeader {
    if (number !== this.#number) {
      this.#number = number
      this.#header = [this.#name, `${number}`]
    }
    return this.#header
  }
}

const LIMIT = new NumberHeader('x-ratelimit-limit')
const RESET = new NumberHeader('x-ratelimit-reset')

/** Sets the headers of one limit (decision A-82), unless an earlier policy has set those of another one. */
export function queueLimitHeaders(limit: number, remaining: number, resetSeconds: number, exchange: Exchange): void {
  if (exchange.queuedHeaders?.some(([name]) => name.startsWith('x-ratelimit-'))) return
  exchange.queueHeaders([LIMIT.of(limit), ['x-ratelimit-remaining', `${remaining}`], RESET.of(resetSeconds)])
}
