import { sha256 } from '#base/sha256.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { ExchangeSlot } from '#exchange/exchange-slot.ts'
import { encode } from '../json/splice.ts'
import type { ServiceGuard } from './guard.ts'
import type { GuardQuestion, GuardService, ServiceVerdict } from './services/service.ts'

/** How long all services may take for one request together, in milliseconds. */
const BUDGET_MS = 30_000

/** What the services said about the texts of a request so far: attempts with the same texts do not ask again (decision B51). */
interface Asked {
  readonly verdicts: Map<GuardService, Map<string, Promise<ServiceVerdict>>>
  /** In milliseconds. */
  spentMs: number
}

const SLOT = new ExchangeSlot<Asked | undefined>(undefined)

export interface AskedVerdict {
  readonly verdict: ServiceVerdict
  readonly isReused: boolean
}

/** Asks the service of a guard about texts. Never rejects. */
export async function askService(
  { service }: ServiceGuard,
  question: GuardQuestion,
  exchange: Exchange,
): Promise<AskedVerdict> {
  const asked = askedOf(exchange)
  const known = asked.verdicts.get(service) ?? new Map<string, Promise<ServiceVerdict>>()
  asked.verdicts.set(service, known)
  const key = digestOf(question)
  const earlier = known.get(key)
  if (earlier !== undefined) return { verdict: await earlier, isReused: true }
  const pending = judge(service, question, exchange, asked)
  known.set(key, pending)
  return { verdict: await pending, isReused: false }
}

async function judge(
  service: GuardService,
  question: GuardQuestion,
  { context }: Exchange,
  asked: Asked,
): Promise<ServiceVerdict> {
  const budgetMs = BUDGET_MS - asked.spentMs
  if (budgetMs <= 0)
    return { kind: 'failed', detail: `the guards of a request may take ${BUDGET_MS / 1000} s together` }
  const startMs = context.monotonic()
  const verdict = await service.judge(question, { call: context.call, signal: context.signal, budgetMs })
  asked.spentMs += context.monotonic() - startMs
  return verdict
}

function askedOf(exchange: Exchange): Asked {
  const known = exchange.slots.get(SLOT)
  if (known !== undefined) return known
  const asked: Asked = { verdicts: new Map(), spentMs: 0 }
  exchange.slots.set(SLOT, asked)
  return asked
}

/** A digest instead of the texts: nothing guarded is kept. */
function digestOf({ messages }: GuardQuestion): string {
  return sha256(encode(JSON.stringify(messages))).toBase64()
}
