import { BadFrame } from '#net/grpc/message-frame.ts'
import { CallError, type CallFailure } from './call.ts'

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

/** What an error says about a call; undefined: it is a bug. */
export function failedCall(error: unknown): FailedCall | undefined {
  if (error instanceof CallError) return new FailedCall(error.failure, error.detail)
  return error instanceof BadFrame ? new FailedCall('response-invalid', error.message) : undefined
}

/** The same, but throws a bug. */
export function failureOf(error: unknown): FailedCall {
  const failed = failedCall(error)
  if (failed === undefined) throw error
  return failed
}
