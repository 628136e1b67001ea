import type { Inventory } from '../context/inventory.ts'
import type { Report } from '../context/reporting.ts'
import type { Listener } from '../gateways/listener.ts'
import type { AttachedPolicy } from './attach-policy.ts'

interface NoEffectContext {
  readonly inventory: Inventory
  /** The listeners that belong to a policy target. */
  readonly listenersAt: (target: string) => readonly Listener[]
}

/** Reports sections and fields of a policy that have no effect at its targets. */
export function reportNoEffect(context: NoEffectContext, policy: AttachedPolicy, report: Report): void {
  reportForeignFields(context, policy, report)
  if (policy.object.spec.traffic !== undefined) reportRelayRules(context, policy, report)
}

/** `ai` and `mcp` have no effect on backends of other types (specification 2, 2.3). */
function reportForeignFields(
  { inventory }: NoEffectContext,
  { object, attachments }: AttachedPolicy,
  report: Report,
): void {
  for (const member of ['ai', 'mcp'] as const) {
    if (object.spec.backend?.[member] === undefined) continue
    const other = attachments.find(
      ({ kind, target }) => kind === 'ProxyBackend' && !isBackendOf(inventory, target, member),
    )
    if (other === undefined) continue
    const message = `${other.title} is not an ${member} backend; backend.${member} has no effect on it`
    report({ path: `spec.backend.${member}`, code: 'no-effect', message, severity: 'warning' })
  }
}

function isBackendOf(inventory: Inventory, target: string, member: 'ai' | 'mcp'): boolean {
  const [, namespace = '', name = ''] = target.split('/')
  return inventory.find('ProxyBackend', namespace, name)?.spec[member] !== undefined
}

/** `traffic` applies to requests, so it cannot protect a listener that relays connections. An error if it has an effect nowhere. */
function reportRelayRules({ listenersAt }: NoEffectContext, { attachments }: AttachedPolicy, report: Report): void {
  const reached = attachments.map(({ title, target }) => {
    const listeners = listenersAt(target)
    return {
      title,
      listeners,
      relayed: listeners.filter(({ spec }) => spec.protocol === 'TCP' || spec.protocol === 'TLS'),
    }
  })
  const places = reached.filter(({ relayed }) => relayed.length > 0)
  if (places.length === 0) return
  const list = places.map(({ title, relayed }) => `${title}: ${relayed.map(({ spec }) => spec.name).join(', ')}`)
  const message = `spec.traffic has no effect on listeners that relay connections without reading requests (${list.join('; ')}); use frontend.networkAuthorization for them`
  const isUseless = reached.every(({ listeners, relayed }) => relayed.length === listeners.length)
  report({ path: 'spec.traffic', code: 'no-effect', message, severity: isUseless ? 'error' : 'warning' })
}
