import { backendName } from '#exchange/backend-name.ts'
import { CallError } from '#exchange/call.ts'
import { FailedCall } from '#exchange/call-unary.ts'
import type { Callout, Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { afterwards, type Step } from '#exchange/step.ts'
import { recordCallout } from '../callout.ts'
import type { Answered, Prepare } from './question.ts'
import { applyVerdict, type Verdict } from './verdict.ts'
import { type CacheSettings, cacheKey, expiryOf } from './verdict-cache.ts'

/** External authorization by one server (specification 2, 2.2.6). */
export interface ExtAuth {
  /** Key of the backend; empty: its reference is not permitted, which is as if it failed. */
  readonly backend: string
  readonly prepare: Prepare
  /** A failure of the server lets the request continue. */
  readonly failsOpen: boolean
  /** Headers of the request that only the server may set. */
  readonly ownedHeaders: readonly string[]
  /** Maximum size of the forwarded body; undefined: it is not forwarded. */
  readonly maxBodyBytes: number | undefined
  readonly cache: CacheSettings | undefined
}

/** Asks the server about each request. Synchronous if the cache answers. */
export function authorize(extAuth: ExtAuth): Step {
  const { maxBodyBytes } = extAuth
  if (maxBodyBytes === undefined) return (exchange) => decide(extAuth, exchange, undefined)
  return (exchange) => withBody(extAuth, exchange, maxBodyBytes)
}

function withBody(extAuth: ExtAuth, exchange: Exchange, maxBytes: number): Outcome | Promise<Outcome> {
  const go = (): Outcome | Promise<Outcome> => {
    const body = exchange.newRequestBody ?? exchange.requestBody
    if (body === null || body === undefined || body.length > maxBytes) return refuseLarge(maxBytes)
    return decide(extAuth, exchange, body)
  }
  if (exchange.newRequestBody !== undefined || exchange.requestBody !== undefined) return go()
  if (exchange.request.contentLength > maxBytes) return refuseLarge(maxBytes)
  const read = exchange.bodies.readRequestBody(exchange, maxBytes, true)
  return afterwards(exchange, read, (unread) => unread ?? go())
}

/** The server is not asked about a part of a body (decision A-75). */
function refuseLarge(maxBytes: number): Refusal {
  const limit = `the limit of the body is ${maxBytes} bytes (extAuth.forwardBody.maxSize)`
  return reject('ext-auth-denied', { status: 413, detail: limit, limit })
}

/** One request and the server that is asked about it. */
interface Asked {
  readonly extAuth: ExtAuth
  readonly exchange: Exchange
  /** In the cache; undefined: there is none, or the request has no key. */
  readonly key: string | undefined
  readonly startMs: number
}

function decide(extAuth: ExtAuth, exchange: Exchange, body: Uint8Array | undefined): Outcome | Promise<Outcome> {
  const { cache } = extAuth
  const key = cache === undefined ? undefined : cacheKey(cache, exchange)
  const asked: Asked = { extAuth, exchange, key, startMs: exchange.context.monotonic() }
  if (key === undefined) return ask(asked, body, undefined)
  const nowMs = exchange.context.now()
  const known = cache!.cache.find(key, nowMs)
  if (known === undefined || cache!.cache.renews(key, nowMs)) return ask(asked, body, known)
  record(asked, known.refusal === undefined ? 'allowed' : 'denied', { cached: true })
  return applyVerdict(known, exchange)
}

/** @param known a decision that is still in force, if the server cannot renew it */
function ask(asked: Asked, body: Uint8Array | undefined, known: Verdict | undefined): Outcome | Promise<Outcome> {
  const { extAuth, exchange, key } = asked
  const question = extAuth.prepare(exchange, body)
  if ('kind' in question) return question
  exchange.trace?.callout({ policy: 'extAuth', backend: backendName(extAuth.backend), ...question.describe() })
  const { call, signal } = exchange.context
  const send = (until: AbortSignal) => question.send(call, until)
  const answered =
    key === undefined ? send(signal) : extAuth.cache!.cache.flights.run(key, send, signal).catch(failureOf)
  return afterwards(exchange, answered, (answer) => settle(asked, answer, known))
}

/** Waiting for the question of another request ended. */
function failureOf(error: unknown): FailedCall {
  if (error instanceof CallError) return new FailedCall(error.failure, error.detail)
  throw error
}

function settle(asked: Asked, answer: Answered, known: Verdict | undefined): Outcome {
  const { extAuth, exchange, key } = asked
  if (answer instanceof FailedCall) {
    if (key !== undefined) extAuth.cache!.cache.renewalFailed(key)
    return known === undefined ? fail(asked, answer) : useKnown(asked, known, answer)
  }
  const verdict = typeof answer === 'function' ? answer(exchange) : answer
  record(asked, verdict.refusal === undefined ? 'allowed' : 'denied', { detail: verdict.refusal?.detail })
  const outcome = applyVerdict(verdict, exchange)
  if (key !== undefined) {
    const nowMs = exchange.context.now()
    extAuth.cache!.cache.store(key, verdict, nowMs, expiryOf(extAuth.cache!, exchange, nowMs))
  }
  return outcome
}

function useKnown(asked: Asked, known: Verdict, failed: FailedCall): Outcome {
  const verdict = known.refusal === undefined ? 'allowed' : 'denied'
  record(asked, verdict, { cached: true, detail: `not renewed: ${failed.text}` })
  return applyVerdict(known, asked.exchange)
}

function fail(asked: Asked, failed: FailedCall): Outcome {
  const { extAuth, exchange } = asked
  // `explain` shows what would happen if the server allowed the request.
  if (failed.failure === 'not-made') return proceed
  const detail = failed.text
  record(asked, 'failed', { detail })
  if (!extAuth.failsOpen) {
    return reject('ext-auth-denied', { detail: `authorization server ${backendName(extAuth.backend)}: ${detail}` })
  }
  for (const name of extAuth.ownedHeaders) exchange.request.remove(name)
  return proceed
}

function record(
  { extAuth, exchange, startMs }: Asked,
  verdict: Callout['verdict'],
  more: Parameters<typeof recordCallout>[3],
): void {
  recordCallout(exchange, { policy: 'extAuth', backend: extAuth.backend, startMs }, verdict, more)
}
