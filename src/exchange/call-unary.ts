import { BadFrame, frameMessage } from '#net/grpc/message-frame.ts'
import type { Call, CallPurpose, CallResponse } from './call.ts'
import { FailedCall, failureOf } from './failed-call.ts'
import { GRPC_REQUEST, readMessages } from './grpc-answer.ts'

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
      ...GRPC_REQUEST,
      purpose,
      path,
      body: frameMessage(message),
      defaultDeadlineMs,
      signal,
    })
    return await readAnswer(response)
  } catch (error) {
    return failureOf(error)
  }
}

async function readAnswer(response: CallResponse): Promise<Uint8Array | FailedCall> {
  let answer: Uint8Array | undefined
  const failure = await readMessages(response, (message) => {
    if (answer !== undefined) throw new BadFrame('the response has more than one message')
    answer = message
    return undefined
  })
  return failure ?? answer ?? new FailedCall('response-invalid', 'the response has no message')
}
