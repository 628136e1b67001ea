import { pause } from '#base/clock.ts'
import { numberIn } from '#base/exact-json.ts'
import { decodeMessage, encodeMessage } from '#base/protobuf/message.ts'
import { backendName } from '#exchange/backend-name.ts'
import type { Call } from '#exchange/call.ts'
import { callUnary } from '#exchange/call-unary.ts'
import { readsCredentials } from '#exchange/credential-reads.ts'
import type { Callout, Exchange, TokenLimit } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { FailedCall } from '#exchange/failed-call.ts'
import { type Outcome, proceed, reject } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import { CALLOUT_DEADLINE_MS, recordCallout } from '../../shared/callout.ts'
import { applyLimitResponse } from './apply-limit-response.ts'
import {
  LIMIT_PATH,
  type LimitDescriptor,
  type LimitResponse,
  RATE_LIMIT_REQUEST,
  RATE_LIMIT_RESPONSE,
  WITHIN_LIMITS,
} from './limit-messages.ts'

/** `global` of a rate limit. */
export interface GlobalLimit {
  /** Key of the backend of the service; undefined: it may not be used. */
  readonly destination: string | undefined
  readonly failOpen: boolean
  readonly domain: string
  readonly requests: readonly GlobalDescriptor[]
  readonly tokens: readonly GlobalDescriptor[]
  /** An expression does not compile, so a descriptor limits nothing. */
  readonly broken: boolean
  /** Its policy and path, for operators. */
  readonly where: string
}

export interface GlobalDescriptor {
  readonly unit: 'Requests' | 'Tokens'
  readonly entries: readonly { readonly name: string; readonly value: Expression }[]
  readonly cost: Expression | undefined
}

/** How often a report is sent, and the wait before it is sent again. */
const REPORTS = 3
const REPORT_AGAIN_MS = 500

type Entries = NonNullable<LimitDescriptor['entries']>

/** A descriptor of tokens with the values of one request. */
interface TokenDescriptor {
  readonly entries: Entries
  readonly cost: Expression | undefined
  /** What the cost came to when it was last charged: an expression sees all tokens of the request so far. */
  chargedCost: number
}

/**
 * Asks the service about all descriptors at once. Those of tokens are asked with a cost of 0: whether tokens are left. They are charged when
 * the tokens are known. A descriptor with an entry that fails, or with a cost of requests that fails, is left out (decision A-83).
 */
export function runGlobalLimit(limit: GlobalLimit, exchange: Exchange): Outcome | Promise<Outcome> {
  if (limit.broken && !limit.failOpen)
    return reject('rate-limit-failed', { detail: `${limit.where}: an expression does not compile` })
  const tokens = limit.tokens.flatMap(({ entries, cost }): TokenDescriptor[] => {
    const values = entriesOf(entries, exchange)
    return values === undefined ? [] : [{ entries: values, cost, chargedCost: 0 }]
  })
  const descriptors = [
    ...limit.requests.flatMap((descriptor) => requestDescriptor(descriptor, exchange) ?? []),
    ...tokens.map(({ entries }) => ({ entries, hitsAddend: { value: 0 } })),
  ]
  exchange.unsentDescriptors += limit.requests.length + limit.tokens.length - descriptors.length
  if (descriptors.length === 0) return proceed
  if (tokens.length > 0) {
    exchange.tokenLimits = [...(exchange.tokenLimits ?? []), new GlobalTokenLimit(limit, tokens, exchange)]
  }
  const { destination } = limit
  if (destination === undefined) return fail(limit, NOT_PERMITTED)
  if (exchange.trace !== undefined) traceQuestion(limit, destination, descriptors, exchange)
  const { signal, call } = exchange.context
  const startMs = exchange.context.monotonic()
  const answered = callUnary(call, destination, questionOf(limit, descriptors, signal))
  return afterwards(exchange, answered, (message) => {
    const answer = readAnswer(message)
    if (answer instanceof FailedCall && answer.failure === 'not-made') return proceed
    const said = answer instanceof FailedCall ? { status: answer.status, detail: answer.text } : { status: 'OK' }
    recordCallout(exchange, { policy: 'rateLimit', backend: destination, startMs }, verdictOf(answer), said)
    return answer instanceof FailedCall ? fail(limit, answer) : applyLimitResponse(answer, limit.where, exchange)
  })
}

const NOT_PERMITTED = new FailedCall('no-endpoint', 'the reference to the service is not permitted')

function questionOf({ domain }: GlobalLimit, descriptors: readonly LimitDescriptor[], signal: AbortSignal) {
  const message = encodeMessage(RATE_LIMIT_REQUEST, { domain, descriptors })
  return { purpose: 'rate-limit', path: LIMIT_PATH, message, defaultDeadlineMs: CALLOUT_DEADLINE_MS, signal } as const
}

function readAnswer(message: Uint8Array | FailedCall): LimitResponse | FailedCall {
  if (message instanceof FailedCall) return message
  const response = decodeMessage(RATE_LIMIT_RESPONSE, message)
  return response ?? new FailedCall('response-invalid', 'the message is not a RateLimitResponse')
}

/** The service gave no decision, so `failureMode` decides. */
function fail({ failOpen, where }: GlobalLimit, failed: FailedCall): Outcome {
  return failOpen ? proceed : reject('rate-limit-failed', { detail: `${where}: the service failed: ${failed.text}` })
}

function verdictOf(answer: LimitResponse | FailedCall): Callout['verdict'] {
  if (answer instanceof FailedCall) return 'failed'
  return answer.overallCode === WITHIN_LIMITS ? 'allowed' : 'denied'
}

/** @returns undefined if an expression fails */
function entriesOf(entries: GlobalDescriptor['entries'], exchange: Exchange): Entries | undefined {
  const values: { key: string; value: string }[] = []
  for (const { name, value } of entries) {
    const text = textOf(value, exchange)
    if (text === undefined) return undefined
    values.push({ key: name, value: text })
  }
  return values
}

/** Numbers and bools are written as in JSON. */
function textOf(expression: Expression, exchange: Exchange): string | undefined {
  const value = expression.json(exchange)
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || numberIn(value) !== undefined ? JSON.stringify(value) : undefined
}

/** Without `cost` the service counts one hit. */
function requestDescriptor({ entries, cost }: GlobalDescriptor, exchange: Exchange): LimitDescriptor | undefined {
  const values = entriesOf(entries, exchange)
  if (values === undefined) return undefined
  if (cost === undefined) return { entries: values }
  const hits = hitsOf(cost, exchange)
  return hits === undefined ? undefined : { entries: values, hitsAddend: { value: hits } }
}

/** Rounded up; undefined: the result is not a number from 0 to the largest that is exact. */
function hitsOf(cost: Expression, exchange: Exchange): number | undefined {
  const value = numberIn(cost.json(exchange))
  return value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.ceil(value) : undefined
}

/** Charges the tokens of one request. The answer decides nothing, so nothing waits for it. */
class GlobalTokenLimit implements TokenLimit {
  readonly #limit: GlobalLimit
  readonly #descriptors: readonly TokenDescriptor[]
  readonly #exchange: Exchange

  constructor(limit: GlobalLimit, descriptors: readonly TokenDescriptor[], exchange: Exchange) {
    this.#limit = limit
    this.#descriptors = descriptors
    this.#exchange = exchange
  }

  drain(count: number): void {
    const { destination } = this.#limit
    const descriptors = this.#descriptors.flatMap((descriptor) => {
      const hits = descriptor.cost === undefined ? count : this.#moreCost(descriptor, descriptor.cost, count)
      return hits === 0 ? [] : [{ entries: descriptor.entries, hitsAddend: { value: hits } }]
    })
    if (destination === undefined || descriptors.length === 0) return
    const { callLater } = this.#exchange.context
    void report(callLater, destination, this.#limit, descriptors)
  }

  /** A cost that fails counts the tokens: an error must not make calls free (decision B40). */
  #moreCost(descriptor: TokenDescriptor, cost: Expression, count: number): number {
    const hits = hitsOf(cost, this.#exchange)
    if (hits === undefined) {
      this.#exchange.failedCosts++
      return count
    }
    const { chargedCost } = descriptor
    descriptor.chargedCost = Math.max(chargedCost, hits)
    return descriptor.chargedCost - chargedCost
  }
}

/** Tells the service what was used. Nothing waits for the answer, so a service that does not take it is told again (decision B40). */
async function report(
  call: Call,
  destination: string,
  limit: GlobalLimit,
  descriptors: readonly LimitDescriptor[],
): Promise<void> {
  for (let left = REPORTS - 1; ; left--) {
    const answer = await callUnary(call, destination, questionOf(limit, descriptors, NEVER_ABORTED))
    if (left === 0 || !(answer instanceof FailedCall) || !isUnheard(answer)) return
    await pause(REPORT_AGAIN_MS)
  }
}

/** The service cannot have counted the report: it would count it twice. */
function isUnheard({ failure }: FailedCall): boolean {
  return failure === 'connection-refused' || failure === 'connect-timeout' || failure === 'wait-timeout'
}

const NEVER_ABORTED = new AbortController().signal

function traceQuestion(
  { domain, requests, tokens }: GlobalLimit,
  destination: string,
  descriptors: readonly LimitDescriptor[],
  exchange: Exchange,
): void {
  const message = { domain, descriptors }
  const values = [...requests, ...tokens].flatMap(({ entries }) => entries.map(({ value }) => value))
  exchange.trace?.callout({
    policy: 'rateLimit',
    backend: backendName(destination),
    question: {
      protocol: 'grpc',
      path: LIMIT_PATH,
      message,
      bytes: encodeMessage(RATE_LIMIT_REQUEST, message).length,
      secrets: values.flatMap((value) => (readsCredentials(value) ? (textOf(value, exchange) ?? []) : [])),
    },
  })
}
