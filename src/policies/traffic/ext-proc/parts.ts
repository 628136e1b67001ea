import type { Exchange } from '#exchange/exchange.ts'
import type { Head } from '#net/http/head.ts'
import { requestFields, responseFields, trailerFields } from './head-fields.ts'
import type { BodyMutation, ProcessingRequest } from './messages.ts'
import type { Modes } from './modes.ts'

const NOTHING = new Uint8Array(0)

// The parts of a message that the processor sees, and what it makes of a body.

export function headersPart(message: keyof Modes, exchange: Exchange, endOfStream: boolean): ProcessingRequest {
  if (message === 'request') return { requestHeaders: { headers: requestFields(exchange), endOfStream } }
  return { responseHeaders: { headers: responseFields(exchange.response!), endOfStream } }
}

export function bodyPart(message: keyof Modes, body: Uint8Array, endOfStream: boolean): ProcessingRequest {
  const part = { body, endOfStream }
  return message === 'request' ? { requestBody: part } : { responseBody: part }
}

export function trailersPart(message: keyof Modes, trailers: Head): ProcessingRequest {
  const part = { trailers: trailerFields(trailers) }
  return message === 'request' ? { requestTrailers: part } : { responseTrailers: part }
}

/** The bytes of a mutation. @returns undefined if the body stays */
export function replacement(mutation: BodyMutation | undefined): Uint8Array | undefined {
  const { body, clearBody, streamedResponse } = mutation ?? {}
  if (streamedResponse !== undefined) return streamedResponse.body ?? NOTHING
  return body ?? (clearBody === true ? NOTHING : undefined)
}
