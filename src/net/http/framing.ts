/** How a message body is delimited (RFC 9112, 6). */
export const BODY_NONE = 0
export const BODY_LENGTH = 1
export const BODY_CHUNKED = 2
/** Ends with the connection; responses only. */
export const BODY_CLOSE = 3
export type BodyKind = typeof BODY_NONE | typeof BODY_LENGTH | typeof BODY_CHUNKED | typeof BODY_CLOSE

/** How a request is sent: the framing of its body, and the protocol of an HTTP/1 upgrade, if requested. */
export interface Framing {
  readonly kind: BodyKind
  /** Announced length in bytes; -1 when unknown. */
  readonly length: number
  readonly upgrade?: string
  /** The response timeout does not run while the body makes progress. */
  readonly patient?: boolean
  /** Admits trailers; without it, and over HTTP/1, none are sent. */
  readonly trailers?: TrailerGate | undefined
}

/** Decides which trailers are forwarded. */
export interface TrailerGate {
  admits(lowerName: string): boolean
}
