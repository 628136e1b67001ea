import { trimSpace } from '#base/byte-text.ts'

/** Longest body that is looked into; calls with files inside may be large, and their method is only told, not needed. */
const MAX_READ_BYTES = 2 * 1024 * 1024

const UNKNOWN = 'unknown'

/**
 * The JSON-RPC method of a call, for logs and traces: names of protocol 0.3 (`message/send`) and 1.0 (`SendMessage`) alike, never
 * interpreted. `unknown` for whatever is not such a call.
 *
 * @param body undefined when it was not read
 */
export function readMethod(contentType: string | undefined, body: Uint8Array | undefined): string {
  if (body === undefined || body.length > MAX_READ_BYTES || !isJson(contentType)) return UNKNOWN
  try {
    const message: unknown = JSON.parse(new TextDecoder().decode(body))
    if (typeof message !== 'object' || message === null || !('method' in message)) return UNKNOWN
    return typeof message.method === 'string' && message.method !== '' ? message.method : UNKNOWN
  } catch {
    return UNKNOWN
  }
}

/** `application/json` and what is built on it, such as `application/a2a+json` (RFC 6839). */
export function isJson(contentType: string | undefined): boolean {
  const type = trimSpace((contentType ?? '').split(';', 1)[0]!).toLowerCase()
  return type === 'application/json' || type.endsWith('+json')
}
