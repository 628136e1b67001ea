import type { PlanItem } from '#plan/item.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import type { Use } from '../context/use.ts'
import type { AttachedRoute } from './attach-route.ts'
import { reportUnservedHostnames } from './report-never-matched.ts'
import { isRelayRoute } from './route-object.ts'
import type { Progress } from './route-progress.ts'
import { translateRelayRules } from './translate-relay-rules.ts'
import { translateRequestRules } from './translate-request-rules.ts'

/** The result of translating a route. */
export interface TranslatedRoute {
  readonly route: AttachedRoute
  readonly items: readonly PlanItem[]
  readonly uses: readonly Use[]
  /** Set if at least one rule cannot be served as written. */
  readonly accepted?: ConditionFault
  /** Set if at least one reference cannot be resolved. */
  readonly resolvedRefs?: ConditionFault
}

/** Translates the rules of a route to plan items. A route without attachments yields no items, but is checked. */
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
  if (object.refusal === undefined) reportUnservedHostnames(route, report)
  if (isRelayRoute(object)) translateRelayRules({ ...progress, object })
  else translateRequestRules({ ...progress, object })
  const [accepted] = progress.accepted
  const [resolvedRefs] = progress.resolvedRefs
  const attached = attachments.length > 0
  return {
    route,
    items: attached ? progress.items.slice() : [],
    uses: attached ? progress.uses.slice() : [],
    ...(accepted === undefined ? {} : { accepted: { ...accepted, message: joinMessages(progress.accepted) } }),
    ...(resolvedRefs === undefined
      ? {}
      : { resolvedRefs: { ...resolvedRefs, message: joinMessages(progress.resolvedRefs) } }),
  }
}

function joinMessages(faults: readonly ConditionFault[]): string {
  return faults.map(({ message }) => message).join('; ')
}
