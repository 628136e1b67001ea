import type { SentSecret } from '#exchange/sent-secret.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import { isClientError, readError } from '../chat/read-error.ts'
import { formatClientError } from '../dialects/refuse.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { WholeBodySink } from './whole-answer.ts'

/** Of a larger error of another API, only this is read. */
const MAX_ERROR_BYTES = 64 * 1024

const encoder = new TextEncoder()

export interface ErrorAnswerOptions {
  /** Of the client. */
  readonly type: ClientFormat
  readonly status: number
  readonly claim: BodyClaim
  /** The credential of the gateway, which is removed. */
  readonly secret: SentSecret | undefined
  /** The provider speaks the dialect of the client: up to so many bytes in it pass unchanged. Unset: it speaks another one. */
  readonly maxNative?: number
}

/** An error response: the status stays, the body becomes one in the dialect of the client, unless it is one. */
export class ErrorAnswer implements AnswerFilter {
  readonly changesLength = true
  /** Errors are short, and clients may know their length. */
  readonly whole = true
  readonly #options: ErrorAnswerOptions

  constructor(options: ErrorAnswerOptions) {
    this.#options = options
  }

  into(sink: BodySink): BodySink {
    const { claim, maxNative = MAX_ERROR_BYTES } = this.#options
    return new ErrorBodySink(sink, claim, maxNative, (body, isCut) => this.#write(body, isCut))
  }

  #write(received: Uint8Array, isCut: boolean): Uint8Array {
    const { type, status, secret, maxNative } = this.#options
    const body = secret?.hideInBytes(received) ?? received
    if (maxNative !== undefined && !isCut && isClientError(type, body)) return body
    return encoder.encode(formatClientError(type, readError(status, body)))
  }
}

/** A broken error response is translated as far as it has arrived: its status is known. */
class ErrorBodySink extends WholeBodySink {
  override abort(why: Abort): void {
    if (why === 'cancelled') super.abort(why)
    else this.end()
  }
}
