import { runInSlices, type Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import type { Guard } from './guard.ts'
import type { GuardedTexts } from './guarded-texts.ts'
import { runGuards } from './run-guards.ts'

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

/**
 * Runs guards on a whole body. A large one is worked off in slices, between other requests.
 * @returns the body to send, the given bytes if no text changed, or a refusal
 */
export function guardBody(guarding: BodyGuarding): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  const read = runInSlices(guarding.read)
  return read instanceof Promise ? read.then((late) => checkBody(late, guarding)) : checkBody(read, guarding)
}

function checkBody(
  body: ReadBody | Refusal,
  { guards, exchange, head }: BodyGuarding,
): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  if ('kind' in body) return body
  const refusal = runGuards(guards, { exchange, texts: body.texts, head })
  if (refusal instanceof Promise) return refusal.then((late) => late ?? runInSlices(body.write()))
  return refusal ?? runInSlices(body.write())
}
