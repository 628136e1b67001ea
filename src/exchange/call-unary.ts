import { BadFrame, FrameReader, frameMessage } from '#net/grpc/message-frame.ts'
import { decodeGrpcMessage, grpcStatusName } from '#net/grpc/status-fields.ts'
import { type Call, CallError, type CallFailure, type CallPurpose, type CallResponse } from './call.ts'

/** Of a message; the default of gRPC. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

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

/** A call without the message that it asked for. */
export class FailedCall {
  /** `grpc-error`: the server answered with another status than OK. `response-invalid`: with something that is not gRPC. */
  readonly failure: CallFailure | 'grpc-error' | 'response-invalid'
  /** For operators. */
  readonly detail: string | undefined
  /** As in `Callout`. */
  readonly status: string | undefined

  constructor(failure: FailedCall['failure'], detail: string | undefined, status?: string) {
    this.failure = failure
    this.detail = detail
    this.status = status
  }

  /** Failure and detail, for operators. */
  get text(): string {
    return this.detail === undefined ? this.failure : `${this.failure}: ${this.detail}`
  }
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
    if (error instanceof CallError) return new FailedCall(error.failure, error.detail)
    if (error instanceof BadFrame) return new FailedCall('response-invalid', error.message)
    throw error
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

/** Why the head is not that of a gRPC response (gRPC over HTTP/2, "Responses"). */
function foreignHead(response: CallResponse): string | undefined {
  if (response.status !== 200) return `the server answered ${response.status}`
  const type = response.header('content-type') ?? ''
  return /^application\/grpc(?:[+;]|$)/i.test(type) ? undefined : 'the response is not gRPC'
}

/** The status is in the trailers, or in the head of a response without a body. @returns undefined if it is OK */
function readStatus(response: CallResponse): FailedCall | undefined {
  const field = (name: string) => response.trailer(name) ?? response.header(name)
  const status = field('grpc-status')
  if (status === undefined) return new FailedCall('response-invalid', 'the response has no grpc-status')
  if (status === '0') return undefined
  const text = decodeGrpcMessage(field('grpc-message') ?? '')
  const name = grpcStatusName(status)
  return new FailedCall('grpc-error', text === '' ? name : `${name}: ${text}`, name)
}
