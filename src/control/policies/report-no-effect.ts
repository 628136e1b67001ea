import type { Listener } from '../gateways/listener.ts'
import type { Inventory } from '../inventory.ts'
import type { Report } from '../reporting.ts'
import type { AttachedPolicy, TargetAttachment } from './attach-policy.ts'

interface NoEffectContext {
  readonly inventory: Inventory
  /** The listeners that belong to a policy target. */
  readonly listenersAt: (target: string) => readonly Listener[]
}

/** Reports sections and fields of a policy that have no effect at its targets. */
export function reportNoEffect(context: NoEffectContext, policy: AttachedPolicy, report: Report): void {
  reportForeignFields(context, policy, report)
  if (policy.object.spec.traffic === undefined) return
  for (const attachment of policy.attachments) reportRelayRules(context, attachment, report)
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

/** `traffic` applies to requests, so it cannot protect a listener that relays connections. */
function reportRelayRules({ listenersAt }: NoEffectContext, attachment: TargetAttachment, report: Report): void {
  const reached = listenersAt(attachment.target)
  const relayed = reached.filter(({ spec }) => spec.protocol === 'TCP' || spec.protocol === 'TLS')
  if (relayed.length === 0) return
  const names = relayed.map(({ spec }) => spec.name).join(', ')
  const message = `${attachment.title}: listener ${names} relays connections without reading requests; spec.traffic has no effect there, use frontend.networkAuthorization instead`
  const severity = relayed.length === reached.length ? 'error' : 'warning'
  report({ path: 'spec.traffic', code: 'no-effect', message, severity })
}
