import { clock } from '#base/clock.ts'
import { runInSlices, type Steps } from '#base/in-slices.ts'
import { sha256 } from '#base/sha256.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { ExchangeSlot } from '#exchange/exchange-slot.ts'
import { encode } from '../json/splice.ts'
import type { ServiceGuard } from './guard.ts'
import type { GuardQuestion, GuardService, ServiceVerdict } from './services/service.ts'
import { traceQuestion } from './trace-guards.ts'

/** How long a request may wait for services in all, in milliseconds; and how long a part of a stream may. */
const BUDGET_MS = 30_000

export interface AskedVerdict {
  readonly verdict: ServiceVerdict
  readonly isReused: boolean
  /** From the question to the verdict: the verdict may wait for others before it counts. */
  readonly durationMs: number
}

/**
 * Asks the service of a guard about the texts of a body, at most once for each request (decision B51). Never rejects.
 * @param needless ends the question
 */
export async function askAboutBody(
  { service }: ServiceGuard,
  question: GuardQuestion,
  exchange: Exchange,
  needless?: AbortSignal,
): Promise<AskedVerdict> {
  const asked = askedOf(exchange)
  const known = asked.verdicts.get(service) ?? new Map<string, Promise<ServiceVerdict>>()
  asked.verdicts.set(service, known)
  const key = await runInSlices(digestOf(question))
  const earlier = known.get(key)
  const startMs = clock.monotonic()
  if (earlier !== undefined) return { verdict: await earlier, isReused: true, durationMs: clock.monotonic() - startMs }
  if (exchange.trace !== undefined) traceQuestion(exchange.trace, service, question)
  const untilMs = asked.budget.enter()
  const { call } = exchange.context
  const signal = needless === undefined ? exchange.context.signal : AbortSignal.any([exchange.context.signal, needless])
  const pending = service.judge(question, { call, signal, untilMs }).finally(() => asked.budget.leave())
  needless?.addEventListener('abort', () => known.delete(key))
  known.set(key, pending)
  return { verdict: await pending, isReused: false, durationMs: clock.monotonic() - startMs }
}

/**
 * The same for a part of a stream: no other attempt has the same text, and a stream may be long.
 * @param signal ends the question
 */
export async function askAboutWindow(
  { service }: ServiceGuard,
  question: GuardQuestion,
  { context: { call } }: Exchange,
  signal: AbortSignal,
): Promise<AskedVerdict> {
  const startMs = clock.monotonic()
  const verdict = await service.judge(question, { call, signal, untilMs: startMs + BUDGET_MS })
  return { verdict, isReused: false, durationMs: clock.monotonic() - startMs }
}

/** Bytes that are digested at a time: a quarter of a millisecond. */
const DIGESTED_BYTES = 32_768
const DIGEST_BYTES = 32

/** A digest instead of the texts: nothing guarded is kept. It is that of the digests of all parts. Yields between them. */
function* digestOf({ messages }: GuardQuestion): Steps<string> {
  const bytes = encode(JSON.stringify(messages))
  const digests = new Uint8Array(Math.ceil(bytes.length / DIGESTED_BYTES) * DIGEST_BYTES)
  for (let part = 0; part * DIGESTED_BYTES < bytes.length; part++) {
    const digest = sha256(bytes.subarray(part * DIGESTED_BYTES, (part + 1) * DIGESTED_BYTES))
    digests.set(digest, part * DIGEST_BYTES)
    yield
  }
  return sha256(digests).toBase64()
}

/** What the services said about the bodies of a request so far. */
interface Asked {
  readonly verdicts: Map<GuardService, Map<string, Promise<ServiceVerdict>>>
  readonly budget: Budget
}

const SLOT = new ExchangeSlot<Asked | undefined>(undefined)

/** The next questions are those of another message: no verdict is known, and no time is spent. */
export function forgetVerdicts(exchange: Exchange): void {
  exchange.slots.set(SLOT, undefined)
}

function askedOf(exchange: Exchange): Asked {
  const known = exchange.slots.get(SLOT)
  if (known !== undefined) return known
  const asked: Asked = { verdicts: new Map(), budget: new Budget() }
  exchange.slots.set(SLOT, asked)
  return asked
}

/** The time in which at least one service was asked. */
class Budget {
  #leftMs = BUDGET_MS
  #asked = 0
  #sinceMs = 0

  /** @returns when the time is up (`clock.monotonic`) */
  enter(): number {
    if (this.#asked++ === 0) this.#sinceMs = clock.monotonic()
    return this.#sinceMs + this.#leftMs
  }

  leave(): void {
    if (--this.#asked === 0) this.#leftMs -= clock.monotonic() - this.#sinceMs
  }
}
