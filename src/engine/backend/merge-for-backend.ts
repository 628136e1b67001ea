import type { BackendItem } from '#plan/item.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { mergeSection } from '../merge/build-chain.ts'
import type { BackendMerge } from './backend-context.ts'
import { backendTargets } from './backend-targets.ts'

/** Merges section `backend` of all policies that apply to a backend, or to one section of it. */
export function mergeForBackend(
  targets: readonly string[],
  item: BackendItem,
  section: string | undefined,
  lookups: Lookups,
): BackendMerge {
  const all = [...targets, ...backendTargets(item, section)]
  return { targets: all, fields: mergeSection({ section: 'backend', phase: undefined, targets: all }, lookups) }
}
