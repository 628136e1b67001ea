import { clock } from '#base/clock.ts'
import { runInSlices, type Steps } from '#base/in-slices.ts'
import { sha256 } from '#base/sha256.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { ExchangeSlot } from '#exchange/exchange-slot.ts'
import { encode } from '../json/splice.ts'
import type { Guard, ServiceGuard } from './guard.ts'
import type { GuardQuestion, GuardService, ServiceVerdict } from './services/service.ts'
import { traceQuestion } from './trace-guards.ts'

/** Total time that a request may wait for services, and time limit for one window of a stream, in milliseconds. */
const BUDGET_MS = 30_000

export interface AskedVerdict {
  readonly verdict: ServiceVerdict
  readonly isReused: boolean
  /** From the question to the verdict, without the time that the verdict then waits for those of other guards. */
  readonly durationMs: number
}

/**
 * Asks the service of a guard about the texts of a body, at most once for each request (decision B51). Never rejects.
 * @param needless aborted when the verdict is no longer needed
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
 * Asks about a window of a stream. The verdict is not kept: no other attempt has the same text, and a stream may be long.
 * @param signal aborts the question
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

/** Bytes that are digested in one step, which takes about 0.25 ms. */
const DIGESTED_BYTES = 32_768
const DIGEST_BYTES = 32

/** The key of a question: a digest over the digests of its parts, so that no guarded text is kept. Yields between parts. */
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

/** Resets verdicts and time budget, because the next questions are about another message. */
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

/** The time that is left for services. It runs while at least one of them is asked. */
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

/**
 * The guards that are asked in one round: one service that may mask, or neighbouring services that only judge, because these do not change what the
 * next one sees. Empty if the first guard is no service.
 */
export function askedTogether(guards: readonly Guard[]): readonly ServiceGuard[] {
  const together: ServiceGuard[] = []
  for (const guard of guards) {
    if (guard.kind === 'regex' || (guard.service.masks && together.length > 0)) break
    together.push(guard)
    if (guard.service.masks) break
  }
  return together
}

/**
 * Asks guards about the same texts at the same time.
 * @param ask never rejects; `needless` is aborted when the verdict is no longer needed
 * @returns the verdicts in the order of the guards, up to the first that lets nothing pass
 */
export async function askTogether(
  guards: readonly ServiceGuard[],
  ask: (guard: ServiceGuard, needless: AbortSignal | undefined) => Promise<AskedVerdict>,
): Promise<readonly AskedVerdict[]> {
  const needless = guards.length > 1 ? new AbortController() : undefined
  const verdicts: AskedVerdict[] = []
  for (const pending of guards.map((guard) => ask(guard, needless?.signal))) {
    const answer = await pending
    verdicts.push(answer)
    const { kind } = answer.verdict
    if (kind !== 'reject' && kind !== 'failed') continue
    needless?.abort()
    break
  }
  return verdicts
}
