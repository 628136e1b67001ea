import type { TargetReply } from '../message/target-reply.ts'
import { discard } from './read-reply.ts'

/** Reads no more of replies that are not needed. */
export function abandon(...replies: readonly TargetReply[]): void {
  for (const reply of replies) {
    if (reply.kind === 'messages') reply.abort()
    if (reply.kind === 'refused') discard(reply.response)
  }
}
