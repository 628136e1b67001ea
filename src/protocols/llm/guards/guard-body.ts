import { runInSlices, type Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import type { Guard } from './guard.ts'
import { runGuards, runRules } from './run-guards.ts'
import type { GuardedTexts } from './texts/guarded-texts.ts'

/** A body with its texts. */
export interface ReadBody {
  readonly texts: GuardedTexts
  /** The body with the texts as they are now; the same bytes if nothing changed. */
  readonly write: () => Steps<Uint8Array>
}

export interface BodyGuarding {
  readonly guards: readonly Guard[]
  readonly exchange: Exchange
  /** Of the message with the body. */
  readonly head: Head
  /** Reads the body, or refuses it because the guards cannot check it. */
  readonly read: Steps<ReadBody | Refusal>
}

/** The texts have passed the patterns before a service, which must be asked next. */
interface Begun {
  readonly body: ReadBody
  /** The index of the service. */
  readonly next: number
}

/**
 * Runs guards on a whole body. A large body is checked in slices, between other requests. All slices are one job, so that only few bodies need memory
 * for their checks at a time.
 * @returns the body to send, the given bytes if no text changed, or a refusal
 */
export function guardBody(guarding: BodyGuarding): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  const begun = runInSlices(begin(guarding))
  return begun instanceof Promise ? begun.then((late) => goOn(late, guarding)) : goOn(begun, guarding)
}

function* begin({ guards, exchange, head, read }: BodyGuarding): Steps<Uint8Array | Refusal | Begun> {
  const body = yield* read
  if ('kind' in body) return body
  const next = yield* runRules(guards, { exchange, texts: body.texts, head }, 0)
  if (typeof next !== 'number') return next
  return next < guards.length ? { body, next } : yield* body.write()
}

function goOn(
  begun: Uint8Array | Refusal | Begun,
  guarding: BodyGuarding,
): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  return 'next' in begun ? askServices(begun, guarding) : begun
}

async function askServices(
  { body, next }: Begun,
  { guards, exchange, head }: BodyGuarding,
): Promise<Uint8Array | Refusal> {
  return (await runGuards(guards, { exchange, texts: body.texts, head }, next)) ?? runInSlices(body.write())
}
