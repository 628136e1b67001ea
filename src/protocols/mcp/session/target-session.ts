import type { Capability } from './capabilities.ts'

/** What a target agreed to when it was initialised. */
export interface TargetSession {
  readonly target: string
  /** The target's own session id; undefined when it gave none. */
  readonly sessionId: string | undefined
  readonly version: string
  readonly capabilities: ReadonlySet<Capability>
}
