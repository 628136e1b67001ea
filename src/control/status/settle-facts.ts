import type { Attached } from '../attach.ts'
import type { BuiltItems } from '../build-items.ts'
import { reportOverlaps } from '../policies/describe-overlaps.ts'
import { findOverlaps } from '../policies/find-overlaps.ts'
import { findSharedSockets } from '../policies/find-shared-sockets.ts'
import { settlePolicies } from '../policies/settle-policies.ts'
import { measureReach } from '../reach.ts'
import { reportShadowed } from '../routes/report-shadowed.ts'
import type { Scope } from '../scope.ts'
import type { StatusFacts } from './status-facts.ts'

/** Looks at the plan as a whole: which Gateways come to which place, and which policies are in each other's way. */
export function settleFacts({ reportOn }: Scope, attached: Attached, items: BuiltItems): StatusFacts {
  const { gateways, backends } = attached
  const reach = measureReach({ ...attached, ...items, routes: attached.routes.map(({ route }) => route) })
  const overlaps = [
    ...findOverlaps(items.policies, reach.around),
    ...findSharedSockets(items.listeners, items.policies),
  ]
  reportOverlaps(overlaps, reportOn)
  reportShadowed(items.all, reportOn)
  return {
    classes: gateways.classes,
    gateways,
    routes: attached.routes,
    idleServices: items.idleServices,
    backends,
    policies: settlePolicies({ policies: attached.policies, overlaps, reach, reportOn }),
    reach,
  }
}
