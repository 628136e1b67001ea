import type { BackendItem, ObjectName } from '#plan/item.ts'
import type { ResolvedMcpBackend } from '#plan/mcp-targets.ts'
import { backendTarget } from '#plan/target.ts'

/**
 * What policies of a backend attach to, or of one section of it (provider, MCP target). Levels decide between them; within a level
 * the first one wins, so that what is nearer stands first.
 */
export function backendTargets(item: BackendItem, section: string | undefined): string[] {
  switch (item.type) {
    case 'service':
      return serviceTargets(item, (item.spec as { readonly port: number }).port)
    case 'mcp':
      return section === undefined ? [backendTarget('ProxyBackend', item)] : mcpTargets(item, section)
    default:
      return sectionTargets(item, section === undefined ? [] : [section])
  }
}

function serviceTargets(service: ObjectName, port: number | string): string[] {
  return [backendTarget('Service', service), backendTarget('Service', service, String(port))]
}

function sectionTargets(item: ObjectName, sections: readonly string[]): string[] {
  return [backendTarget('ProxyBackend', item), ...sections.map((name) => backendTarget('ProxyBackend', item, name))]
}

/** An MCP target goes by its own name and by that of its entry (decision B60); one behind a Service also by that Service. */
function mcpTargets(item: BackendItem, name: string): string[] {
  const target = (item.spec as ResolvedMcpBackend).targets.find((each) => each.name === name)
  const own = sectionTargets(item, [...new Set([name, target?.entry ?? name])])
  if (target?.backend === undefined) return own
  const [, namespace, service, port] = target.backend.split('/') as [string, string, string, string]
  return [...serviceTargets({ namespace, name: service }, port), ...own]
}
