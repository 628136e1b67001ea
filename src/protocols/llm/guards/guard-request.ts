import type { Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Trace } from '#exchange/trace.ts'
import { FORMATS } from '../dialects/index.ts'
import { refuse, refuseFault } from '../dialects/refuse.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import type { ExemptPlace } from '../texts/body-texts.ts'
import type { PromptGuards } from './guard.ts'
import { guardBody, type ReadBody } from './guard-body.ts'
import { GuardedTexts } from './texts/guarded-texts.ts'
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
  const head = exchange.clientHead ?? exchange.request
  return guardBody({ guards, exchange, head, read: readRequest(body, format, exchange.trace) })
}

function* readRequest(body: Uint8Array, format: ClientFormat, trace: Trace | undefined): Steps<ReadBody | Refusal> {
  const document = yield* parseInSteps(body)
  if (!(document instanceof JsonValue)) return refuseFault(format, document)
  yield
  const exempt: ExemptPlace[] = []
  const found = yield* FORMATS[format].readRequestTexts(document, trace && exempt)
  if (trace !== undefined) traceTexts(trace, found, exempt)
  const texts = yield* GuardedTexts.read(body, found)
  if ('unreadable' in texts) return refuse(format, 'llm-body-invalid', texts.unreadable)
  return { texts, write: () => texts.apply() }
}
