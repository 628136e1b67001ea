import type { BodyClaim } from '#net/body/body-memory.ts'
import { type Message, parseMessage } from '../message/json-rpc.ts'
import { TargetStreamError } from './target-stream-error.ts'

/** Longest accepted message of a target. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024

const BODY_MEMORY = 'the requests of this worker use all memory for bodies (GATEWRIGHT_BODY_MEMORY)'

/** Memory overhead of a piece of a response: a response may arrive in millions of pieces. */
const PIECE_BYTES = 64

/** A response is in memory until it is complete. @returns how much memory was taken for this piece */
export function holdPiece(claim: BodyClaim, piece: Uint8Array): number {
  const bytes = piece.length + PIECE_BYTES
  if (!claim.take(bytes)) throw new TargetStreamError('no memory is left for the response of the target', BODY_MEMORY)
  return bytes
}

/** Undefined for a request without an id, which is dropped. @throws TargetStreamError if the text is no message */
export function readMessage(text: string): Message | undefined {
  const message = parseMessage(text)
  if (message.kind !== 'unreadable') return message
  const { problem, detail = problem } = message
  if (problem === 'no-id') return undefined
  throw new TargetStreamError(`the target sent an invalid message: ${detail}`)
}
