import { trimSpace } from '#base/byte-text.ts'
import { findAmbiguousMember, shapeOf } from '#base/json-ambiguity.ts'
import { parseJson } from '#base/parse-json.ts'

/** Longest body that is parsed. Calls with files can be large, and their method is only logged, so larger ones are skipped. */
const MAX_READ_BYTES = 2 * 1024 * 1024

const UNKNOWN = 'unknown'

const CALL = shapeOf({ jsonrpc: undefined, id: undefined, method: undefined, params: undefined })

/**
 * The JSON-RPC method of a call, for logs and traces. Names of protocol 0.3 (`message/send`) and 1.0 (`SendMessage`) are returned as they
 * are. `unknown` for other requests, and for a method that the agent could read differently.
 *
 * @param body undefined if it was not read
 */
export function readMethod(contentType: string | undefined, body: Uint8Array | undefined): string {
  if (body === undefined || body.length > MAX_READ_BYTES || !isJson(contentType)) return UNKNOWN
  try {
    const text = new TextDecoder().decode(body)
    const message: unknown = parseJson(text)
    if (typeof message !== 'object' || message === null || !('method' in message)) return UNKNOWN
    if (typeof message.method !== 'string' || findAmbiguousMember(text, CALL) !== undefined) return UNKNOWN
    return message.method || UNKNOWN
  } catch {
    return UNKNOWN
  }
}

/** `application/json` and types based on it, such as `application/a2a+json` (RFC 6839). */
export function isJson(contentType: string | undefined): boolean {
  const type = trimSpace((contentType ?? '').split(';', 1)[0]!).toLowerCase()
  return type === 'application/json' || type.endsWith('+json')
}
