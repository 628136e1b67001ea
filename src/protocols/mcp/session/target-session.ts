import type { Capability } from './capabilities.ts'

/** The result of initialising a target. */
export interface TargetSession {
  readonly target: string
  /** The target's own session id; undefined if it sent none. */
  readonly sessionId: string | undefined
  readonly version: string
  readonly capabilities: ReadonlySet<Capability>
}
