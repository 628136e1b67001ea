import { keyOf } from '#api/object.ts'
import type { ParentReference } from '#api/parent-reference.ts'
import { compareText } from '#base/compare-text.ts'
import type { Attachment } from '#plan/item.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Report } from '../context/reporting.ts'
import { isServed, type Listener, whyNotServed } from '../gateways/listener.ts'
import type { ListenerMatch, MatchedRoute } from './match-route.ts'
import type { Displacement } from './mixed-kinds.ts'
import type { RouteObject } from './route-object.ts'

/** A route with at least one parent that belongs to this controller or does not exist. */
export interface AttachedRoute {
  readonly object: RouteObject
  readonly parents: readonly AttachedParent[]
  /** At the listeners that are served. */
  readonly attachments: readonly Attachment[]
  /** All listeners that the route is attached to, for status and reach. */
  readonly listeners: readonly Listener[]
}

export interface AttachedParent {
  /** With the defaults of the schema. */
  readonly ref: ParentReference
  /** Key of its Gateway, if some of its listeners match. */
  readonly gateway?: string
  /** Why the route is attached to no listener of this parent. */
  readonly fault?: ConditionFault
  /** What an attached route should know: listeners that it is not attached to, or that none of its listeners is served. */
  readonly note?: string
}

/**
 * Attaches a route to listeners (docs/behaviour/control.md, "Attachment of routes").
 * @param displaced where a route of another kind takes precedence
 */
export function attachRoute(
  { object, parents }: MatchedRoute,
  displaced: readonly Displacement[],
  report: Report,
): AttachedRoute {
  const matches = new Map<string, ListenerMatch>()
  const attached = parents.map((parent): AttachedParent => {
    const {
      path,
      matches: [match],
    } = parent
    const ref = match === undefined ? { ref: parent.ref } : { ref: parent.ref, gateway: keyOf(match.listener.gateway) }
    const kept = parent.matches.filter(({ listener }) => displaced.every((it) => it.listener !== listener.key))
    for (const match of kept) matches.set(match.listener.key, match)
    const conflict = describeConflict(parent.matches, displaced)
    const unserved = describeUnserved(kept)
    const found = { path, severity: 'error' } as const
    if (parent.refusal !== undefined) {
      const { code, reason, message } = parent.refusal
      report({ ...found, code, message })
      return { ...ref, fault: { reason, message } }
    }
    if (conflict !== undefined) report({ ...found, code: 'parent-route-conflict', message: conflict })
    if (unserved !== undefined) report({ ...found, code: 'parent-not-matching', message: unserved })
    if (conflict !== undefined && kept.length === 0) {
      return { ...ref, fault: { reason: 'HostnameConflict', message: conflict } }
    }
    const notes = [conflict, unserved].filter((note) => note !== undefined)
    return notes.length === 0 ? ref : { ...ref, note: notes.join('; ') }
  })
  const sorted = [...matches.values()].sort((a, b) => compareText(a.listener.key, b.listener.key))
  return {
    object,
    parents: attached,
    attachments: sorted
      .filter(({ listener }) => isServed(listener))
      .map(({ listener, hostnames }) => ({ listener: listener.key, hostnames })),
    listeners: sorted.map(({ listener }) => listener),
  }
}

/** The listeners at which a route of another kind takes precedence. */
function describeConflict(matches: readonly ListenerMatch[], displaced: readonly Displacement[]): string | undefined {
  const conflicts = matches.flatMap(({ listener }) =>
    displaced.flatMap((it) => (it.listener === listener.key ? [`listener ${listener.spec.name}: ${it.message}`] : [])),
  )
  return conflicts.length === 0 ? undefined : conflicts.join('; ')
}

/** A route is attached whether its listeners are served or not (Gateway API, AttachedRoutes), but it must be said. */
function describeUnserved(matches: readonly ListenerMatch[]): string | undefined {
  const unserved = matches.flatMap(({ listener }) => {
    const fault = whyNotServed(listener)
    return fault === undefined ? [] : [`listener ${listener.spec.name} is not served: ${fault.message}`]
  })
  return matches.length === 0 || unserved.length < matches.length ? undefined : unserved.join('; ')
}
