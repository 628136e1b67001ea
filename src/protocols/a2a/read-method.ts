import { trimSpace } from '#base/byte-text.ts'
import { findAmbiguousMember, shapeOf } from '#base/json-ambiguity.ts'

/** Longest body that is looked into; calls with files inside may be large, and their method is only told, not needed. */
const MAX_READ_BYTES = 2 * 1024 * 1024

const UNKNOWN = 'unknown'

const CALL = shapeOf({ jsonrpc: undefined, id: undefined, method: undefined, params: undefined })

/**
 * The JSON-RPC method of a call, for logs and traces: names of protocol 0.3 (`message/send`) and 1.0 (`SendMessage`) alike, never
 * interpreted. `unknown` for whatever is not such a call, and for a method that the agent may read differently.
 *
 * @param body undefined when it was not read
 */
export function readMethod(contentType: string | undefined, body: Uint8Array | undefined): string {
  if (body === undefined || body.length > MAX_READ_BYTES || !isJson(contentType)) return UNKNOWN
  try {
    const text = new TextDecoder().decode(body)
    const message: unknown = JSON.parse(text)
    if (typeof message !== 'object' || message === null || !('method' in message)) return UNKNOWN
    if (typeof message.method !== 'string' || findAmbiguousMember(text, CALL) !== undefined) return UNKNOWN
    return message.method || UNKNOWN
  } catch {
    return UNKNOWN
  }
}

/** `application/json` and what is built on it, such as `application/a2a+json` (RFC 6839). */
export function isJson(contentType: string | undefined): boolean {
  const type = trimSpace((contentType ?? '').split(';', 1)[0]!).toLowerCase()
  return type === 'application/json' || type.endsWith('+json')
}
