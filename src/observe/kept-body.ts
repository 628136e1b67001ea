import type { Exchange } from '#exchange/exchange.ts'
import { sentSecret } from '#exchange/sent-secret.ts'

/** The beginning of a body, until somebody reads the record. */
export interface KeptBody {
  readonly bytes: Uint8Array
  readonly isComplete: boolean
}

/** A body in a record. */
export interface BodyRecord {
  /** Its beginning; absent if it is no text in UTF-8, such as a compressed body. */
  readonly text: string | undefined
  /** All of it is in the text. */
  readonly isComplete: boolean
}

/**
 * A copy of the beginning of a body, because the memory of the body is released.
 * @param body undefined: it was not read
 * @param maxBytes 0: records have no bodies
 * @param exchange of a body of a backend, which may quote the credential of the gateway; it may be a token that no object has
 */
export function keptBody(body: Uint8Array | undefined, maxBytes: number, exchange?: Exchange): KeptBody | undefined {
  if (maxBytes === 0 || body === undefined || body.length === 0) return undefined
  // What was recorded as it passed ends at the limit, too.
  const bytes = Uint8Array.prototype.slice.call(body, 0, maxBytes)
  const isComplete = body.length < maxBytes
  const secret = exchange && sentSecret(exchange)
  return { bytes: secret?.hideInBytes(bytes, !isComplete) ?? bytes, isComplete }
}

export function bodyRecord({ bytes, isComplete }: KeptBody): BodyRecord {
  try {
    // A character may be cut at the end.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isComplete })
    return { text, isComplete }
  } catch {
    return { text: undefined, isComplete: false }
  }
}
