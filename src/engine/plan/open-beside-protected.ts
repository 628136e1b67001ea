import type { Finding } from '#base/finding.ts'
import type { RouteItem } from '#plan/item.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { isRestricted } from './access.ts'

/** A rule at one of its listeners. */
interface Placed {
  readonly rule: RouteItem
  readonly isOpen: boolean
}

/**
 * Advises on rules that everybody can use, while other rules for the same host require a credential or ask who the client is: a policy may
 * be missing, or attached to the wrong route. Looks at all rules, so it is for tools, and not for a gateway that serves.
 */
export function openBesideProtected(rules: Iterable<RouteItem>, lookups: Lookups): readonly Finding[] {
  const places = new Map<string, Placed[]>()
  for (const rule of rules) {
    // A rule without backends answers itself, such as with a redirect.
    if (rule.backends.length === 0) continue
    for (const { listener, hostnames } of rule.attachments) {
      const item = lookups.item(listener)
      if (item?.kind !== 'listener') continue
      const isOpen = !isRestricted(rule, item, lookups)
      for (const hostname of hostnames.length === 0 ? [''] : hostnames) {
        const key = `${listener} ${hostname}`
        const placed = places.get(key) ?? []
        placed.push({ rule, isOpen })
        places.set(key, placed)
      }
    }
  }
  const found = new Map<string, Finding>()
  for (const placed of places.values()) {
    const closed = placed.find(({ isOpen }) => !isOpen)
    if (closed === undefined) continue
    for (const { rule, isOpen } of placed)
      if (isOpen && !found.has(rule.key)) found.set(rule.key, advise(rule, closed.rule))
  }
  return [...found.values()]
}

function advise({ rule, origin }: RouteItem, other: RouteItem): Finding {
  const { kind, namespace, name } = other.route
  const message =
    `everybody can use this rule, while rule ${other.rule} of ${kind} ${namespace}/${name}, for the same host, restricts its clients; ` +
    'if that is not intended, attach its policy here, too, or to the Gateway'
  return { origin, path: `spec.rules[${rule}]`, code: 'open-beside-protected', message, severity: 'advice' }
}
