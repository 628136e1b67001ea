import { policyDefinition } from '#api/policy-fields.ts'
import type { Finding } from '#base/finding.ts'
import type { RouteItem } from '#plan/item.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { mergeSection } from '../merge/build-chain.ts'
import { listenerTargets, ruleTargets } from '../route/live-listener.ts'

/**
 * Advises on authentication policies that are in force at a listener without TLS, so that everybody on the way can read the credentials of
 * clients. Looks at all rules, so it is for tools, and not for a gateway that serves.
 */
export function plainCredentials(rules: Iterable<RouteItem>, lookups: Lookups): readonly Finding[] {
  const found = new Map<string, Finding>()
  for (const rule of rules) {
    for (const { listener } of rule.attachments) {
      const item = lookups.item(listener)
      if (item?.kind !== 'listener' || item.protocol !== 'HTTP') continue
      const atListener = listenerTargets(item)
      const phases = [
        mergeSection({ section: 'traffic', phase: 'PreRouting', targets: atListener }, lookups),
        mergeSection(
          { section: 'traffic', phase: 'PostRouting', targets: [...atListener, ...ruleTargets(rule)] },
          lookups,
        ),
      ]
      for (const { field, sources } of phases.flatMap((fields) => [...fields.values()])) {
        const [source] = sources
        if (source === undefined || policyDefinition('traffic', field)?.identifies === undefined) continue
        const { namespace, name } = item.gateway
        const message = `clients send the credential in plain text to listener ${item.name} of Gateway ${namespace}/${name}; use protocol HTTPS, unless a proxy in front of it has TLS`
        const { origin, path } = source
        const finding = { origin, path, code: 'credential-over-http', message, severity: 'advice' } as const
        found.set(`${source.key} ${listener}`, finding)
      }
    }
  }
  return [...found.values()]
}
