import type { CallResponse } from '#exchange/call.ts'
import { FailedCall } from '#exchange/failed-call.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The text of a response; at most `maxBytes` are read. */
export async function readBody(response: CallResponse, maxBytes: number): Promise<string | FailedCall> {
  const coding = response.header('content-encoding')?.toLowerCase() ?? 'identity'
  if (coding !== 'identity') {
    await response.body[Symbol.asyncIterator]().return?.()
    return invalid('the response is compressed')
  }
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of response.body) {
    length += piece.length
    if (length > maxBytes) return invalid(`the response has more than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return decode(pieces, length) ?? invalid('the response is not UTF-8')
}

function decode(pieces: readonly Uint8Array[], length: number): string | undefined {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  try {
    return decoder.decode(whole)
  } catch {
    return undefined
  }
}

function invalid(why: string): FailedCall {
  return new FailedCall('response-invalid', why)
}
