import type { JsonObject } from '#base/json.ts'
import type { TargetSession } from './target-session.ts'

/** A target that takes part in a request without a session. */
export interface Participant {
  readonly session: TargetSession
  /** Of its initialisation or discovery; undefined: they were not necessary. */
  readonly result: JsonObject | undefined
}
