import type { ObserveSettings } from '#observe/observer.ts'
import type { FrontendHttpSetting } from '#policies/frontend/http/index.ts'
import { POLICIES } from '#policies/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import { compileSetting, mergeSection } from './build-chain.ts'
import type { Lookups } from './lookups.ts'

/** What `frontend` policies say about one listener. */
export interface FrontendSettings extends FrontendHttpSetting, ObserveSettings {}

export function buildFrontendSettings(
  targets: readonly string[],
  lookups: Lookups,
  context: CompileContext,
): FrontendSettings {
  const fields = mergeSection({ section: 'frontend', phase: undefined, targets }, lookups)
  return {
    ...compileSetting(POLICIES.frontend.http, fields, context),
    accessLog: compileSetting(POLICIES.frontend.accessLog, fields, context),
    metricLabels: compileSetting(POLICIES.frontend.metrics, fields, context),
  }
}
