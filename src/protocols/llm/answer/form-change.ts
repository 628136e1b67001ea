import { parseExactJson } from '#base/exact-json.ts'
import { nestsDeeper } from '#base/skip-json.ts'
import type { JsonValue } from '../json/json-document.ts'
import type { ClientFormat } from '../request/route-type.ts'

/** A request whose provider speaks the dialect of the client. */
export interface NativeRequest {
  readonly type: ClientFormat
  readonly streamed: boolean
  /** The body of the client. */
  readonly body: Uint8Array
}

/** Writes an answer of one dialect in its other form, with everything that it has. */
export interface FormChange {
  /** What a whole answer lacks, so that it is none; undefined: nothing. */
  faultOf(answer: JsonValue): string | undefined
  /** The events of a stream, in pieces. */
  writeStream(answer: JsonValue, includesUsage: boolean): Iterable<string | Uint8Array>
  /** @param hasRoom whether so many more units of text may be kept */
  collector(hasRoom: (length: number) => boolean): StreamCollector
}

/** Reads a stream as a whole answer. */
export interface StreamCollector {
  /**
   * @param name from the event line; empty if there is none
   * @param data valid during the call
   * @returns undefined: more events are needed
   */
  event(name: string, data: Uint8Array): Collected | undefined
  /** The stream has ended. @returns undefined: it is incomplete */
  end(): Collected | undefined
}

export type Collected =
  | { readonly kind: 'whole'; readonly body: Uint8Array }
  /** The provider reports an error, in this object. */
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'unusable'; readonly what: string }

/** The same limit as that of `parseDocument`, because values are merged and written recursively. */
const MAX_DEPTH = 256

/** The value of a text, with exact numbers; undefined: it is not JSON, or nested too deep. */
export function parsedOrNone(text: string): unknown {
  try {
    const value = parseExactJson(text)
    return nestsDeeper(text, MAX_DEPTH) ? undefined : value
  } catch {
    return undefined
  }
}

/** Memory overhead of an event of which something is kept, in units of text. */
export const EVENT_OVERHEAD = 64

export const TOO_LARGE: Collected = { kind: 'unusable', what: 'the response is too large' }
export const NO_JSON: Collected = { kind: 'unusable', what: 'an event of the stream is not JSON' }
