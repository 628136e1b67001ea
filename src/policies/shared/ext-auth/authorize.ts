import { backendName } from '#exchange/backend-name.ts'
import type { Callout, Exchange } from '#exchange/exchange.ts'
import { FailedCall, failureOf } from '#exchange/failed-call.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { afterwards, type Step } from '#exchange/step.ts'
import { recordCallout } from '../callout.ts'
import type { Answered, Prepare } from './question.ts'
import { applyVerdict, type Verdict } from './verdict.ts'
import { type CacheSettings, cacheKey, expiryOf } from './verdict-cache.ts'

/** External authorization by one server (specification 2, 2.2.6). */
export interface ExtAuth {
  /** Key of the backend; undefined: the reference to it may not be used, which is as if it failed. */
  readonly backend: string | undefined
  readonly prepare: Prepare
  /** A failure of the server lets the request continue. */
  readonly failsOpen: boolean
  /** Headers of the request that only the server may set. */
  readonly ownedHeaders: readonly string[]
  /** Undefined: it is not forwarded. */
  readonly body: ForwardedBody | undefined
  readonly cache: CacheSettings | undefined
}

export interface ForwardedBody {
  readonly maxBytes: number
  /** The field that sets the maximum. */
  readonly field: string
}

/** Of which the backend is known. */
type Server = ExtAuth & { readonly backend: string }

/** Asks the server about each request. Synchronous if the cache answers. */
export function authorize(extAuth: ExtAuth): Step {
  const { backend, body } = extAuth
  if (backend === undefined) return (exchange) => withoutAnswer(extAuth, UNUSABLE, exchange)
  const server: Server = { ...extAuth, backend }
  if (body === undefined) return (exchange) => decide(server, exchange, undefined)
  return (exchange) => withBody(server, exchange, body)
}

const UNUSABLE = 'the reference to the authorization server cannot be used'

function withBody(extAuth: Server, exchange: Exchange, limit: ForwardedBody): Outcome | Promise<Outcome> {
  const { maxBytes } = limit
  const go = (): Outcome | Promise<Outcome> => {
    const body = exchange.newRequestBody ?? exchange.requestBody.whole
    if (body === undefined || body.length > maxBytes) return refuseLarge(limit)
    return decide(extAuth, exchange, body)
  }
  if (exchange.newRequestBody !== undefined || exchange.requestBody.kind !== 'unread') return go()
  if (exchange.request.contentLength > maxBytes) return refuseLarge(limit)
  const read = exchange.bodies.request.read(maxBytes, true)
  return afterwards(exchange, read, (unread) => unread ?? go())
}

/** The server is not asked about a part of a body. */
function refuseLarge({ maxBytes, field }: ForwardedBody): Refusal {
  const limit = `the limit of the body is ${maxBytes} bytes (${field})`
  return reject('ext-auth-denied', { status: 413, detail: limit, limit })
}

/** One request and the server that is asked about it. */
interface Asked {
  readonly extAuth: Server
  readonly exchange: Exchange
  /** In the cache; undefined: there is none, or the request has no key. */
  readonly key: string | undefined
  readonly startMs: number
}

function decide(extAuth: Server, exchange: Exchange, body: Uint8Array | undefined): Outcome | Promise<Outcome> {
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
  const question = extAuth.prepare(extAuth.backend, exchange, body)
  if ('kind' in question) return question
  const { trace } = exchange
  trace?.callout({ policy: 'extAuth', backend: backendName(extAuth.backend), question: question.describe() })
  const { call, signal } = exchange.context
  const send = (until: AbortSignal) => question.send(call, until)
  // A wait for the question of another request may end.
  const answered =
    key === undefined ? send(signal) : extAuth.cache!.cache.flights.run(key, send, signal).catch(failureOf)
  return afterwards(exchange, answered, (answer) => settle(asked, answer, known))
}

function settle(asked: Asked, answer: Answered, known: Verdict | undefined): Outcome {
  const { extAuth, exchange, key } = asked
  if (answer instanceof FailedCall) {
    if (key !== undefined) extAuth.cache!.cache.renewalFailed(key)
    return known === undefined ? fail(asked, answer) : useKnown(asked, known, answer)
  }
  const verdict = typeof answer === 'function' ? answer(exchange) : answer
  const { status, refusal } = verdict
  record(asked, refusal === undefined ? 'allowed' : 'denied', { status, detail: refusal?.detail })
  const outcome = keepMetadata(verdict, exchange) ?? applyVerdict(verdict, exchange)
  if (key !== undefined) {
    const nowMs = exchange.context.now()
    extAuth.cache!.cache.store(key, verdict, nowMs, expiryOf(extAuth.cache!, exchange, nowMs))
  }
  return outcome
}

/** Smaller answers count as part of the request. */
const SMALL_BYTES = 1024

/** New metadata live as long as the request; those of the cache are within its bounds. @returns a refusal if there is no memory for them */
function keepMetadata({ metadata, bytes }: Verdict, exchange: Exchange): Refusal | undefined {
  return metadata !== undefined && bytes > SMALL_BYTES ? exchange.bodies.request.keep(bytes) : undefined
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
  record(asked, 'failed', { status: failed.status, detail })
  return withoutAnswer(extAuth, `authorization server ${backendName(extAuth.backend)}: ${detail}`, exchange)
}

function withoutAnswer({ failsOpen, ownedHeaders }: ExtAuth, detail: string, { request }: Exchange): Outcome {
  if (!failsOpen) return reject('ext-auth-denied', { detail })
  for (const name of ownedHeaders) request.remove(name)
  return proceed
}

function record(
  { extAuth, exchange, startMs }: Asked,
  verdict: Callout['verdict'],
  more: Parameters<typeof recordCallout>[3],
): void {
  recordCallout(exchange, { policy: 'extAuth', backend: extAuth.backend, startMs }, verdict, more)
}
