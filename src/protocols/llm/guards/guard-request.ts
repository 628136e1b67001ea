import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { refuse, refuseFault } from '../request/refuse.ts'
import type { ClientFormat } from '../request/route-type.ts'
import { REQUEST_TEXTS } from '../texts/dialect-texts.ts'
import type { Guard, PromptGuards } from './guard.ts'
import { GuardedTexts, type UnreadableText } from './guarded-texts.ts'
import { runInSlices } from './in-slices.ts'
import { runGuards } from './run-guards.ts'
import { traceTexts } from './trace-guards.ts'

/**
 * Runs the request guards on a body in its final form, with the configured messages, before it is translated.
 * @returns the body to send, the given bytes if no text changed, or a refusal
 */
export function guardRequest(
  { request: guards }: PromptGuards,
  format: ClientFormat,
  body: Uint8Array,
  exchange: Exchange,
): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  const document = parseDocument(body)
  if (!(document instanceof JsonValue)) return refuseFault(format, document)
  const found = REQUEST_TEXTS[format](document)
  if (exchange.trace !== undefined) traceTexts(exchange.trace, found)
  const texts = runInSlices(GuardedTexts.readInSteps(body, found))
  const check = (known: GuardedTexts | UnreadableText) => checkTexts(guards, format, known, exchange)
  return texts instanceof Promise ? texts.then(check) : check(texts)
}

function checkTexts(
  guards: readonly Guard[],
  format: ClientFormat,
  texts: GuardedTexts | UnreadableText,
  exchange: Exchange,
): Uint8Array | Refusal | Promise<Uint8Array | Refusal> {
  if ('unreadable' in texts) return refuse(format, 'llm-body-invalid', texts.unreadable)
  const refusal = runGuards(guards, { exchange, texts, head: exchange.clientHead ?? exchange.request })
  if (refusal instanceof Promise) return refusal.then((late) => late ?? texts.apply())
  return refusal ?? texts.apply()
}
