import type { CallError, CallResponse } from '#exchange/call.ts'
import type { Message } from './json-rpc.ts'

/** The reply of a target to a request. */
export type TargetReply =
  | {
      readonly kind: 'messages'
      /** The `mcp-session-id` of the reply. */
      readonly sessionId: string | undefined
      /** Label of the replica that replied. */
      readonly endpoint: string
      /** The target speaks only revisions without sessions. */
      readonly isModern?: true
      readonly messages: AsyncIterable<TargetMessage>
      /** The body is one message in JSON, which this reads instead of `messages`. */
      readonly readWhole?: () => Uint8Array | Promise<Uint8Array>
      /** Abandons the unread rest. */
      readonly abort: () => void
    }
  /** No message: the reply to a notification. */
  | { readonly kind: 'nothing' }
  /** An HTTP status that is not a success; the body has not been read. */
  | { readonly kind: 'refused'; readonly response: CallResponse }
  | FailedCall

export interface FailedCall {
  readonly kind: 'failed'
  readonly failure: TargetFailure
  readonly detail: string
  /** The bound of the target that is reached, which the client may know. */
  readonly limit?: string
  /** No part of the request has reached the target. */
  readonly unreached?: true
}

export type TargetFailure = CallError['failure'] | 'invalid-answer' | 'session-deleted'

/** Gets one message of a target, or the end of its stream. */
export interface MessageReader {
  message(received: TargetMessage): void
  ended(): void
  failed(error: unknown): void
}

/** A message of a target, with the other fields of its event. */
export interface TargetMessage {
  /** Undefined for an event without data, which has only an id or a reconnection time. */
  readonly message: Message | undefined
  /** Byte text. */
  readonly eventId: string | undefined
  readonly retryMs: number | undefined
  /** Keeps the message in memory after the next one was requested, until the request of the client ends. */
  readonly keep: () => void
}
