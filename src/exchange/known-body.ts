/**
 * What the gateway has of the body of a message:
 * - `unread`: nothing; no step needs it, or none has needed it yet.
 * - `whole`: all of it. A message without a body has `EMPTY_BODY`.
 * - `large`: it exceeds the limit, or it is a call of the gateway that streams. `start` is its beginning, if steps read only that.
 * - `recorded`: after the end, for log, metrics and records: what was recorded of its beginning while it streamed.
 *
 * All have the same members, so that readers need not ask for the kind first.
 */
export type KnownBody =
  | { readonly kind: 'unread'; readonly whole: undefined; readonly start: undefined }
  | { readonly kind: 'whole'; readonly whole: Uint8Array; readonly start: Uint8Array }
  | { readonly kind: 'large' | 'recorded'; readonly whole: undefined; readonly start: Uint8Array | undefined }

/** All requests share these. */
export const UNREAD_BODY: KnownBody = Object.freeze({ kind: 'unread', whole: undefined, start: undefined })
export const EMPTY_BODY: KnownBody = Object.freeze(wholeBody(new Uint8Array(0)))
/** Nothing of its beginning was read. */
export const LARGE_BODY: KnownBody = Object.freeze(largeBody(undefined))

/** @param bytes undefined: there is no body */
export function wholeBody(bytes: Uint8Array | undefined): KnownBody {
  return bytes === undefined ? EMPTY_BODY : { kind: 'whole', whole: bytes, start: bytes }
}

export function largeBody(start: Uint8Array | undefined): KnownBody {
  return { kind: 'large', whole: undefined, start }
}

/** @param start undefined: nothing was recorded */
export function recordedBody(start: Uint8Array | undefined): KnownBody {
  return { kind: 'recorded', whole: undefined, start }
}
