import { BadFrame, FrameReader, frameMessage } from '#net/grpc/message-frame.ts'
import type { Call, CallPurpose, CallResponse } from './call.ts'
import { FailedCall, failedCall } from './failed-call.ts'
import { foreignHead, MAX_MESSAGE_BYTES, readStatus } from './grpc-answer.ts'

/** A gRPC call with one message in each direction. */
export interface UnaryCall {
  readonly purpose: CallPurpose
  /** `/package.Service/Method`. */
  readonly path: string
  readonly message: Uint8Array
  /** Time limit of the whole call; a request timeout in the destination's own policies replaces it. */
  readonly defaultDeadlineMs: number
  readonly signal: AbortSignal
}

/** Makes a gRPC call. @returns the message of the server, or why there is none */
export async function callUnary(call: Call, destination: string, unary: UnaryCall): Promise<Uint8Array | FailedCall> {
  const { purpose, path, message, defaultDeadlineMs, signal } = unary
  try {
    const response = await call(destination, {
      purpose,
      protocol: 'grpc',
      method: 'POST',
      path,
      headers: [],
      body: frameMessage(message),
      timeoutMs: 0,
      defaultDeadlineMs,
      signal,
    })
    return await readAnswer(response)
  } catch (error) {
    const failed = failedCall(error)
    if (failed === undefined) throw error
    return failed
  }
}

async function readAnswer(response: CallResponse): Promise<Uint8Array | FailedCall> {
  const foreign = foreignHead(response)
  if (foreign !== undefined) {
    await response.body[Symbol.asyncIterator]().return?.()
    return new FailedCall('response-invalid', foreign, `${response.status}`)
  }
  const reader = new FrameReader(MAX_MESSAGE_BYTES)
  let answer: Uint8Array | undefined
  // Leaving the loop early gives up the connection.
  for await (const piece of response.body) {
    reader.push(piece)
    for (let next = reader.next(); next !== undefined; next = reader.next()) {
      if (answer !== undefined) throw new BadFrame('the response has more than one message')
      answer = next
    }
  }
  if (!reader.atBoundary) return new FailedCall('response-invalid', 'the message is incomplete')
  return readStatus(response) ?? answer ?? new FailedCall('response-invalid', 'the response has no message')
}
