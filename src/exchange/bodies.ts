import type { Abort } from '#net/failure.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySource, SendableBody } from '#net/stream.ts'
import type { BodyUse } from './body-use.ts'
import type { Refusal } from './outcome.ts'

/** The two bodies of a request, for steps that read or replace them. */
export interface Bodies {
  readonly request: RequestBodyAccess
  readonly response: ResponseBodyAccess
}

export interface BodyAccess {
  /** The body as it would be forwarded now. Delivered once. */
  outgoing(): SendableBody
  /**
   * Replaces that body.
   * @param trailers of a body in memory
   * @returns a promise if earlier steps had buffered the body, and later ones may read it: it is buffered again; a refusal if that fails
   */
  replace(body: BodySource | Uint8Array, trailers?: Head): Promise<Refusal | undefined> | undefined
  /** Counts bytes of a body that a step keeps as memory; negative: they are released. */
  hold(bytes: number): void
  /** Counts bytes of data that policies keep of the message until the request ends. @returns a refusal if no memory is left for them */
  keep(bytes: number): Refusal | undefined
}

export interface RequestBodyAccess extends BodyAccess {
  /**
   * Buffers the body for steps that need it; it is still forwarded unless a step replaces it. Sets `exchange.requestBody`, to a large
   * body if it exceeds `maxBytes`. With `prefix` that has a beginning, and can still be forwarded. Never settles if the client stops sending.
   * @returns a refusal if the body could not be read
   */
  read(maxBytes: number, use: Exclude<BodyUse, false>): Promise<Refusal | undefined>
  /**
   * Decodes the body, which was read, and removes its `content-encoding`.
   * @returns a refusal if it cannot be decoded, or exceeds `maxBytes` afterwards
   */
  decode(maxBytes: number): Promise<Refusal | undefined>
  /** The content of the body, which was read, for decisions; the body stays as it is. Or a refusal if there is no such content. */
  content(): Promise<Uint8Array | Refusal>
}

export interface ResponseBodyAccess extends BodyAccess {
  /** Records that the backend broke off its response before any of it was sent. @returns the refusal for the client */
  broken(why: Abort): Refusal
}
