import type { AccessLogSettings, ObserveSettings } from '#observe/observer.ts'
import { POLICIES } from '#policies/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import { mergeSection, settingOf } from './build-chain.ts'
import type { Lookups } from './lookups.ts'

/** What `frontend` policies say about one listener. */
export interface FrontendSettings extends ObserveSettings {
  /** The largest body that is kept in memory for a policy (specification 2, 2.1 `maxBufferSize`). */
  readonly maxBufferBytes: number
}
