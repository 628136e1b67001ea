import type { Listener } from '../gateways/listener.ts'
import type { Inventory } from '../inventory.ts'
import type { Report } from '../reporting.ts'
import type { AttachedPolicy, TargetAttachment } from './place-policy.ts'

interface NoEffectContext {
  readonly inventory: Inventory
  /** The listeners at a place. */
  readonly listenersAt: (place: string) => readonly Listener[]
}

/** Says which sections and fields of a policy mean nothing at its targets. */
export function reportNoEffect(context: NoEffectContext, policy: AttachedPolicy, report: Report): void {
  reportForeignFields(context, policy, report)
  if (policy.object.spec.traffic === undefined) return
  for (const place of policy.places) reportRelayRules(context, place, report)
}

/** `ai` and `mcp` mean nothing to backends of other kinds (specification 2, 2.3). */
function reportForeignFields({ inventory }: NoEffectContext, { object, places }: AttachedPolicy, report: Report): void {
  for (const member of ['ai', 'mcp'] as const) {
    if (object.spec.backend?.[member] === undefined) continue
    const other = places.find(({ kind, target }) => kind === 'ProxyBackend' && !isBackendOf(inventory, target, member))
    if (other === undefined) continue
    const message = `${other.title} is not an ${member} backend; backend.${member} has no effect on it`
    report({ path: `spec.backend.${member}`, code: 'no-effect', message, severity: 'warning' })
  }
}

function isBackendOf(inventory: Inventory, target: string, member: 'ai' | 'mcp'): boolean {
  const [, namespace = '', name = ''] = target.split('/')
  return inventory.find('ProxyBackend', namespace, name)?.spec[member] !== undefined
}

/** Whoever wants `traffic` to protect a listener has to know that it cannot protect one that relays connections. */
function reportRelayRules({ listenersAt }: NoEffectContext, place: TargetAttachment, report: Report): void {
  const reached = listenersAt(place.target)
  const relayed = reached.filter(({ spec }) => spec.protocol === 'TCP' || spec.protocol === 'TLS')
  if (relayed.length === 0) return
  const names = relayed.map(({ spec }) => spec.name).join(', ')
  const message = `${place.title}: listener ${names} relays connections without reading requests; spec.traffic has no effect there, use frontend.networkAuthorization instead`
  const severity = relayed.length === reached.length ? 'error' : 'warning'
  report({ path: 'spec.traffic', code: 'no-effect', message, severity })
}
