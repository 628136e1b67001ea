import type { TargetMessage } from '../message/target-reply.ts'
import type { SessionTarget } from '../request/mcp-request.ts'
import type { FailedReply } from '../target/target-failure.ts'

/** The notifications that a client subscribes to: flags for lists, and URIs of resources. */
export interface Filter {
  readonly flags: readonly string[]
  readonly uris: readonly string[]
}

/** A target that reports which subscriptions it has accepted. */
export interface Listening {
  readonly target: SessionTarget
  readonly messages: AsyncIterable<TargetMessage>
  readonly abort: () => void
  readonly accepted: Filter
}

export interface NotListening {
  readonly target: SessionTarget
  readonly failure: FailedReply
}

/** Flags of `subscriptions/listen`, and the notifications that they are about. */
export const FLAGS = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
} as const
