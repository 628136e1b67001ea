import { JsonValue, parseDocument } from '../json/json-document.ts'
import type { ClientFormat } from '../request/route-type.ts'
import { CLIENT_DIALECTS, NATIVE_DIALECTS, PROVIDER_DIALECTS } from './dialects.ts'
import { TargetNames } from './target-names.ts'
import type { ChatTranslation } from './translate-request.ts'

/** A request whose provider speaks the dialect of the client. */
export interface NativeRequest {
  readonly type: ClientFormat
  readonly streamed: boolean
  readonly model: string
  /** The body of the client. */
  readonly body: Uint8Array
}

/**
 * How the answer is written if its provider sent a stream to a client that asked for none, or the reverse.
 * @returns undefined if the dialect cannot be read, or the body is not one that is
 */
export function otherForm({ type, streamed, model, body }: NativeRequest): ChatTranslation | undefined {
  const provider = NATIVE_DIALECTS[type]
  const [from, to] = [PROVIDER_DIALECTS[provider], CLIENT_DIALECTS[provider]]
  if (from === undefined || to === undefined) return undefined
  const request = parseDocument(body)
  if (!(request instanceof JsonValue)) return undefined
  return { kind: 'chat', type, from, provider, to, streamed, request, model, names: new TargetNames([]) }
}
