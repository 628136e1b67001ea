import type { PlanItem } from '#plan/item.ts'
import type { Report } from '../reporting.ts'
import type { Complaint } from '../status/condition.ts'
import type { TranslationContext } from '../translation-context.ts'
import type { Use } from '../use.ts'
import { type AttachedRoute, isRelayRoute } from './attach-route.ts'
import type { Progress } from './route-progress.ts'
import { translateRelayRules } from './translate-relay-rules.ts'
import { translateRequestRules } from './translate-request-rules.ts'

/** What a route became. */
export interface TranslatedRoute {
  readonly route: AttachedRoute
  readonly items: readonly PlanItem[]
  readonly uses: readonly Use[]
  /** Some rule cannot be served as it is written. */
  readonly accepted?: Complaint
  /** Some reference leads nowhere. */
  readonly resolvedRefs?: Complaint
}

/** Turns the rules of a route into plan items. A route that is attached nowhere yields none, but is checked all the same. */
export function translateRoute(context: TranslationContext, route: AttachedRoute, report: Report): TranslatedRoute {
  const { object, attachments } = route
  const progress: Omit<Progress, 'object'> = {
    context,
    attachments,
    report,
    items: [],
    uses: [],
    accepted: [],
    resolvedRefs: [],
  }
  if (isRelayRoute(object)) translateRelayRules({ ...progress, object })
  else translateRequestRules({ ...progress, object })
  const [accepted] = progress.accepted
  const [resolvedRefs] = progress.resolvedRefs
  const attached = attachments.length > 0
  return {
    route,
    items: attached ? progress.items.slice() : [],
    uses: attached ? progress.uses.slice() : [],
    ...(accepted === undefined ? {} : { accepted }),
    ...(resolvedRefs === undefined
      ? {}
      : { resolvedRefs: { ...resolvedRefs, message: joined(progress.resolvedRefs) } }),
  }
}

function joined(complaints: readonly Complaint[]): string {
  return complaints.map(({ message }) => message).join('; ')
}
