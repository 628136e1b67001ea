import { pipeline, Readable, type Transform } from 'node:stream'
import {
  brotliDecompress,
  brotliDecompressSync,
  type CompressCallback,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzip,
  gunzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  type Zlib,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib'

/** A small body may expand to this size, whatever its ratio. */
const ALWAYS_BYTES = 65_536
/** A larger body may expand to this multiple of its size. Texts of requests stay below 20. */
const MAX_RATIO = 100

type Decode = (bytes: Uint8Array, maxOutputLength: number, done: CompressCallback) => void

/** RFC 9110, 8.4.1; RFC 9659 limits the window of `zstd` to 8 MiB. */
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: (bytes, maxOutputLength, done) => gunzip(bytes, { maxOutputLength }, done),
  deflate: (bytes, maxOutputLength, done) =>
    // Some clients omit the zlib header (RFC 9110, 8.4.1.2).
    hasZlibHeader(bytes) ? inflate(bytes, { maxOutputLength }, done) : inflateRaw(bytes, { maxOutputLength }, done),
  br: (bytes, maxOutputLength, done) => brotliDecompress(bytes, { maxOutputLength }, done),
  zstd: (bytes, maxOutputLength, done) =>
    zstdDecompress(bytes, { maxOutputLength, params: { [constants.ZSTD_d_windowLogMax]: 23 } }, done),
}
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' }

/** The content codings that `decodeContent` knows, as a field value. */
export const CONTENT_CODINGS = Object.keys(DECODERS).join(', ')

export type Undecoded = 'unknown-coding' | 'malformed' | 'too-large'

/**
 * Decodes a body. It runs in another thread.
 * @param coding the value of `Content-Encoding`: one coding
 */
export function decodeContent(coding: string, bytes: Uint8Array, maxBytes: number): Promise<Uint8Array | Undecoded> {
  const known = nameOf(coding)
  if (!Object.hasOwn(DECODERS, known)) return Promise.resolve('unknown-coding')
  const limit = Math.min(maxBytes, Math.max(ALWAYS_BYTES, bytes.length * MAX_RATIO))
  return new Promise((resolve) => {
    DECODERS[known]!(bytes, limit, (error, decoded) => {
      if (error === null) resolve(decoded)
      else resolve('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'malformed')
    })
  })
}

/** Decodes a body piece by piece, in another thread. */
export type StreamDecoder = Transform & Zlib

/** @param first the first bytes of the body, if they are known */
type CreateDecoder = (first: Uint8Array | undefined) => StreamDecoder

/** A body that ends too early is decoded as far as it goes: what it contains has an end of its own. */
const STREAM_DECODERS: Readonly<Record<string, CreateDecoder>> = {
  gzip: () => createGunzip(UNTIL_CUT),
  deflate: (first) =>
    first === undefined || hasZlibHeader(first) ? createInflate(UNTIL_CUT) : createInflateRaw(UNTIL_CUT),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: () =>
    createZstdDecompress({
      finishFlush: constants.ZSTD_e_flush,
      params: { [constants.ZSTD_d_windowLogMax]: 23 },
    }),
}
const UNTIL_CUT = { finishFlush: constants.Z_SYNC_FLUSH }

/**
 * @param coding the value of `Content-Encoding`: one coding
 * @returns creates the decoder of a body from its first bytes; undefined if the coding is unknown
 */
export function streamDecoder(coding: string): ((first: Uint8Array) => StreamDecoder) | undefined {
  const known = nameOf(coding)
  return Object.hasOwn(STREAM_DECODERS, known) ? STREAM_DECODERS[known] : undefined
}

/**
 * Decodes a body as it arrives, only as fast as the result is read.
 * @param coding the value of `Content-Encoding`: one coding
 * @returns undefined if the coding is unknown
 */
export function decodeStream(coding: string, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> | undefined {
  const known = nameOf(coding)
  if (known === '' || known === 'identity') return body
  if (!Object.hasOwn(STREAM_DECODERS, known)) return undefined
  const decoder = STREAM_DECODERS[known]!(undefined)
  // Errors of both sides reach the reader of the decoder.
  pipeline(Readable.from(body, { objectMode: false }), decoder, () => {})
  // Node streams have a `pipe` method of their own, and readers treat every object with `pipe` as a body of the gateway.
  return { [Symbol.asyncIterator]: () => decoder[Symbol.asyncIterator]() }
}

type DecodePrefix = (bytes: Uint8Array, maxOutputLength: number) => Uint8Array

/** Without the end of the body, they return what the received part contains. */
const PREFIX_DECODERS: Readonly<Record<string, DecodePrefix>> = {
  gzip: (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }),
  deflate: (bytes, maxOutputLength) => {
    const options = { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }
    return hasZlibHeader(bytes) ? inflateSync(bytes, options) : inflateRawSync(bytes, options)
  },
  br: (bytes, maxOutputLength) =>
    brotliDecompressSync(bytes, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (bytes, maxOutputLength) =>
    zstdDecompressSync(bytes, {
      maxOutputLength,
      finishFlush: constants.ZSTD_e_flush,
      params: { [constants.ZSTD_d_windowLogMax]: 23 },
    }),
}

/**
 * Decodes the received part of a body, in this thread: a cold path for small bodies.
 * @param coding the value of `Content-Encoding`: one coding
 * @returns undefined if the coding is unknown, the bytes are malformed, or the contents are longer than `maxBytes`
 */
export function decodeReceived(coding: string, bytes: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const known = nameOf(coding)
  if (!Object.hasOwn(PREFIX_DECODERS, known)) return undefined
  try {
    return PREFIX_DECODERS[known]!(bytes, maxBytes)
  } catch {
    return undefined
  }
}

function nameOf(coding: string): string {
  const name = coding.trim().toLowerCase()
  return ALIASES[name] ?? name
}

/**
 * RFC 1950, 2.2: method 8, a window of up to 32 KiB. The first byte says so, because a first piece may have no other one. Data without the header begins
 * so only if the unused bits before a stored block are not zero, which no encoder writes.
 */
function hasZlibHeader([first = 0]: Uint8Array): boolean {
  return (first & 0x8f) === 8
}
