import { buildStatuses } from './status/build-statuses.ts'
import type { Translation } from './translation.ts'

/** Completes a translation with its statuses, which are written when they are first asked for: a translation may pass through several hands. */
export function assembleTranslation({ items, facts, findings, bindings }: Omit<Translation, 'statuses'>): Translation {
  let statuses: Translation['statuses'] | undefined
  return {
    items,
    facts,
    findings,
    bindings,
    get statuses() {
      statuses ??= buildStatuses(facts, findings, bindings)
      return statuses
    },
  }
}
