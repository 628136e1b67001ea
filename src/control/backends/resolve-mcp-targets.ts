import { OWN_GROUP } from '#api/groups.ts'
import { objectKey } from '#api/object.ts'
import type { McpTargetSelectorSpec, McpTargetSpec, ProxyBackendObject } from '#api/proxy-backend.ts'
import type { ServiceObject, ServicePortSpec } from '#api/service.ts'
import type { ResolvedMcpTarget } from '#plan/item.ts'
import { itemPath } from '#schema/index.ts'
import { ANNOTATION } from '../context/annotations.ts'
import type { Inventory } from '../context/inventory.ts'
import { selectorFault } from '../context/label-selector.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { resolveBackend } from '../references/resolve-backend.ts'
import { selectServices } from './select-services.ts'

/** `appProtocol` of Service ports that speak MCP. */
const MCP_PORTS = new Map<string | undefined, ResolvedMcpTarget['protocol']>([
  [`${OWN_GROUP}/mcp`, 'StreamableHTTP'],
  [`${OWN_GROUP}/mcp-sse`, 'SSE'],
])

/** Resolves the targets of an MCP backend. A selector yields one target for each matching port (specification 1, 2.3.4; decision B60). */
export function resolveMcpTargets(
  context: TranslationContext,
  backend: ProxyBackendObject,
  report: Report,
): readonly ResolvedMcpTarget[] {
  const targets: ResolvedMcpTarget[] = []
  const names = new Set<string>()
  for (const [index, entry] of (backend.spec.mcp?.targets ?? []).entries()) {
    const path = itemPath('spec.mcp.targets', index)
    const found =
      entry.static === undefined
        ? discoverTargets(context.inventory, backend, entry, { path, report })
        : [staticTarget(context, backend, entry.name, entry.static, { path, report })]
    for (const target of found) {
      const name = freeName(names, target, { path, report })
      if (name === undefined) continue
      names.add(name)
      targets.push({ ...target.resolved, name })
    }
  }
  return targets
}

interface Candidate {
  readonly resolved: ResolvedMcpTarget
  readonly namespace: string
}

interface Entry {
  readonly path: string
  readonly report: Report
}

function staticTarget(
  context: TranslationContext,
  backend: ProxyBackendObject,
  name: string,
  { backendRef, policies: _, ...spec }: McpTargetSpec,
  { path, report }: Entry,
): Candidate {
  const { namespace } = backend.metadata
  if (backendRef === undefined) return { namespace, resolved: { name, entry: name, ...spec } }
  const { key, fault } = resolveBackend(context, backend, { name: backendRef.name, port: spec.port }, ['Service'])
  if (fault === undefined) return { namespace, resolved: { name, entry: name, backend: key!, ...spec } }
  const { code, message } = fault
  report({ path: `${path}.static.backendRef`, code, message, severity: 'error' })
  return { namespace, resolved: { name, entry: name, ...spec, broken: message } }
}

function discoverTargets(
  inventory: Inventory,
  backend: ProxyBackendObject,
  { name: entry, selector = {} }: McpTargetSelectorSpec,
  { path, report }: Entry,
): readonly Candidate[] {
  const reportName = (message: string) =>
    report({ path: `${path}.selector`, code: 'name-invalid', message, severity: 'warning' })
  const found = selectServices(inventory, backend.metadata.namespace, selector).flatMap((service) =>
    (service.spec.ports ?? []).flatMap((port): Candidate[] => {
      const protocol = MCP_PORTS.get(port.appProtocol)
      if (protocol === undefined) return []
      const { namespace, name, annotations = {} } = service.metadata
      const mcpPath = annotations[ANNOTATION.mcpPath]
      return [
        {
          namespace,
          resolved: {
            name: targetName(service, port, reportName),
            entry,
            backend: `${objectKey('Service', namespace, name)}/${port.port}`,
            port: port.port,
            protocol,
            ...(mcpPath === undefined ? {} : { path: mcpPath }),
          },
        },
      ]
    }),
  )
  const fault = selectorFault(selector.namespaces ?? {}) ?? selectorFault(selector.services ?? {})
  if (fault !== undefined) {
    const message = `${fault}: no Service is selected`
    report({ path: `${path}.selector`, code: 'selector-invalid', message, severity: 'error' })
  } else if (found.length === 0) {
    const message = `no Service with these labels has a port with appProtocol ${[...MCP_PORTS.keys()].join(' or ')}`
    report({ path: `${path}.selector`, code: 'selector-matches-nothing', message, severity: 'warning' })
  }
  return found
}

const TARGET_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** Policies refer to targets by `sectionName`, so an annotation that is not a valid section name is ignored. */
function targetName({ metadata }: ServiceObject, port: ServicePortSpec, report: (message: string) => void): string {
  const defaultName = `${metadata.name}-${port.name ?? port.port}`
  const wanted = metadata.annotations?.[ANNOTATION.mcpTargetName]
  if (wanted === undefined || TARGET_NAME.test(wanted)) return wanted ?? defaultName
  report(
    `the annotation ${ANNOTATION.mcpTargetName} of Service ${metadata.namespace}/${metadata.name} is not a valid name; ${defaultName} is used`,
  )
  return defaultName
}

/** If two targets have the same name, the namespace is appended to the name of the later one (decision B60). */
function freeName(taken: ReadonlySet<string>, { resolved, namespace }: Candidate, { path, report }: Entry) {
  if (!taken.has(resolved.name)) return resolved.name
  const name = `${resolved.name}-${namespace}`
  const left = !taken.has(name)
  const message = left
    ? `another target is named ${resolved.name}; the target from namespace ${namespace} is renamed to ${name}`
    : `another target is named ${resolved.name}; the target from namespace ${namespace} is ignored`
  report({ path, code: 'name-collision', message, severity: left ? 'warning' : 'error' })
  return left ? name : undefined
}
