import type { BackendItem, ObjectName } from '#plan/item.ts'
import { backendTarget } from '#plan/target.ts'
import { bindProtocol } from './bind-protocol.ts'

/**
 * The targets whose policies apply to a backend or to one of its sections (provider, MCP target). Of two policies, the one with the higher
 * level takes precedence; within a level, the one of the first target.
 */
export function backendTargets(item: BackendItem, section: string | undefined): string[] {
  if (item.type === 'service') return serviceTargets(item, `${item.spec.port}`)
  const whole = backendTarget('ProxyBackend', item)
  if (section === undefined) return [whole]
  const { names, service } = bindProtocol(item).sectionNames(section)
  const own = [whole, ...names.map((name) => backendTarget('ProxyBackend', item, name))]
  if (service === undefined) return own
  const [namespace, name, port] = service.split('/') as [string, string, string]
  return [...serviceTargets({ namespace, name }, port), ...own]
}

function serviceTargets(service: ObjectName, port: string): string[] {
  return [backendTarget('Service', service), backendTarget('Service', service, port)]
}
