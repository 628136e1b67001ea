import { clock } from '#base/clock.ts'
import { sha256 } from '#base/sha256.ts'
import { backendName } from '#exchange/backend-name.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { ExchangeSlot } from '#exchange/exchange-slot.ts'
import { encode } from '../json/splice.ts'
import type { ServiceGuard } from './guard.ts'
import type { GuardQuestion, GuardService, ServiceVerdict } from './services/service.ts'

/** How long a request may wait for services in all, in milliseconds; and how long a part of a stream may. */
const BUDGET_MS = 30_000

export interface AskedVerdict {
  readonly verdict: ServiceVerdict
  readonly isReused: boolean
  /** From the question to the verdict: the verdict may wait for others before it counts. */
  readonly durationMs: number
}

/** Asks the service of a guard about the texts of a body, at most once for each request (decision B51). Never rejects. */
export async function askAboutBody(
  { service }: ServiceGuard,
  question: GuardQuestion,
  exchange: Exchange,
): Promise<AskedVerdict> {
  const asked = askedOf(exchange)
  const known = asked.verdicts.get(service) ?? new Map<string, Promise<ServiceVerdict>>()
  asked.verdicts.set(service, known)
  const key = digestOf(question)
  const earlier = known.get(key)
  exchange.trace?.step({
    stage: 'backend',
    name: 'promptGuard',
    verdict: 'proceed',
    detail: describe(service, question),
    origins: [],
  })
  const startMs = clock.monotonic()
  if (earlier !== undefined) return { verdict: await earlier, isReused: true, durationMs: clock.monotonic() - startMs }
  const untilMs = asked.budget.enter()
  const pending = judge(service, question, exchange, untilMs).finally(() => asked.budget.leave())
  known.set(key, pending)
  return { verdict: await pending, isReused: false, durationMs: clock.monotonic() - startMs }
}

/** The same for a part of a stream: no other attempt has the same text, and a stream may be long. */
export async function askAboutWindow(
  { service }: ServiceGuard,
  question: GuardQuestion,
  exchange: Exchange,
): Promise<AskedVerdict> {
  const startMs = clock.monotonic()
  const verdict = await judge(service, question, exchange, startMs + BUDGET_MS)
  return { verdict, isReused: false, durationMs: clock.monotonic() - startMs }
}

/** A digest instead of the texts: nothing guarded is kept. */
function digestOf({ messages }: GuardQuestion): string {
  return sha256(encode(JSON.stringify(messages))).toBase64()
}

/** Without the texts. */
function describe({ kind, destination }: GuardService, { messages, phase }: GuardQuestion): string {
  const length = messages.reduce((sum, { content }) => sum + content.length, 0)
  const texts = messages.length === 1 ? '1 text' : `${messages.length} texts`
  return `${kind} ${backendName(destination)} is asked about ${texts} of the ${phase}, ${length} characters`
}

function judge(
  service: GuardService,
  question: GuardQuestion,
  { context: { call, signal } }: Exchange,
  untilMs: number,
): Promise<ServiceVerdict> {
  return service.judge(question, { call, signal, untilMs })
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
