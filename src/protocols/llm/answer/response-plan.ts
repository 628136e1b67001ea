import type { KeptAnswer } from '../facts/kept-answer.ts'
import type { Guard } from '../guards/guard.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import type { TokenAccount } from '../tokens/token-account.ts'
import type { AnswerTranslation } from '../translation/translate-request.ts'

/** How the response to a request is read. */
export interface ResponsePlan {
  /** The dialect of the provider's response. */
  readonly wire: RouteType
  /** Only the gateway requested the usage chunk of the stream, so it is removed again. */
  readonly hidesUsage: boolean
  /** Keeps output of the model; undefined: no expression in force reads it. The same as `facts.answer`. */
  readonly kept: KeptAnswer | undefined
  /** The provider speaks another dialect than the client. */
  readonly translation: AnswerTranslation | undefined
  /** The provider speaks the dialect of the client. Undefined also if nothing is read of the request. */
  readonly native: NativeRequest | undefined
  /** The guards that check the response, in the dialect of the client. */
  readonly guards: readonly Guard[]
  /** Limit of bodies in bytes. */
  readonly maxBytes: number
  /** Estimates tokens that the provider does not report; undefined: nothing reads tokens, or none are used. */
  readonly account: TokenAccount | undefined
}

/** A request whose provider speaks the dialect of the client. */
export interface NativeRequest {
  readonly type: ClientFormat
  readonly streamed: boolean
  /** The body of the client. */
  readonly body: Uint8Array
}
