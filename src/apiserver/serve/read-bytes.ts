import type { IncomingMessage } from 'node:http'
import { ApiError } from '../http/api-error.ts'

/** As on the platform. */
const MAX_BODY_BYTES = 3 * 1024 * 1024

/**
 * Reads the body of a request.
 * @throws ApiError RequestEntityTooLarge, UnsupportedMediaType
 */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const coding = request.headers['content-encoding'] ?? 'identity'
  if (coding !== 'identity') throw new ApiError('UnsupportedMediaType', `content encoding ${coding} is not supported`)
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > MAX_BODY_BYTES) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function tooLarge(): ApiError {
  return new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`)
}
