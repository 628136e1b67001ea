import { clock } from '#base/clock.ts'
import { type Address, endpointAddress, hostAddress } from '../address.ts'
import type { BackendProtocol, FindEndpoints } from '../backend-protocol.ts'
import { mcpBackend } from './config/backend-schema.ts'
import { compileMcp } from './config/compile-mcp.ts'
import { mcp as policy } from './config/policy.ts'
import type { ResolvedMcpBackend, ResolvedMcpTarget } from './config/resolved-backend.ts'
import { describeMcp, explainMcp } from './explain-mcp.ts'
import { handleMcp } from './handle-mcp.ts'
import { MCP_MEMORY } from './request/mcp-memory.ts'

/** MCP servers behind one endpoint (specification 1, 2.3.4). The gateway terminates the protocol and calls the servers itself. */
export const mcp = {
  name: 'mcp',
  schema: mcpBackend,
  policy,
  // Tools can take long, and the protocol has its own time limits.
  responseTimeoutMs: 0,
  rewritesHost: true,
  addresses: ({ spec }, endpointsOf) => [spec.targets.flatMap((target) => targetAddresses(target, endpointsOf))],
  sectionNames: ({ targets }, section) => {
    // A target has its own name and that of its entry (decision B60).
    const target = targets.find(({ name }) => name === section)
    const names = [...new Set([section, target?.entry ?? section])]
    return target?.backend === undefined ? { names } : { names, service: serviceOf(target.backend) }
  },
  replaced: ({ target, spec }, worker) => {
    const names = spec.targets.map(({ name }) => name)
    MCP_MEMORY.of(worker).streams.replaced(target, names)
  },
  sessions: (worker, table) => {
    const { activities, tools } = MCP_MEMORY.of(worker)
    return activities.report(table, clock.now(), tools)
  },
  compile: (backend, settings, context) => {
    const plan = compileMcp(backend, settings, context)
    return {
      ...plan.authentication,
      endsWithClient: true,
      serve: (exchange, body, services) =>
        handleMcp(plan, exchange, body, { ...services, memory: MCP_MEMORY.of(services.worker) }),
      explain: (exchange, _endpoint, boundToLoopback) => {
        const body = exchange.newRequestBody ?? exchange.requestBody.whole
        const explanation = explainMcp(plan, exchange, body, boundToLoopback)
        return { lines: describeMcp(explanation), refusal: explanation.refusal }
      },
    }
  },
} as const satisfies BackendProtocol<ResolvedMcpBackend> & { readonly schema: unknown; readonly policy: unknown }

/** A target behind a Service has the addresses of all ready endpoints. */
function targetAddresses(
  { name, host, port, backend, broken }: ResolvedMcpTarget,
  endpointsOf: FindEndpoints,
): readonly Address[] {
  if (broken !== undefined) return []
  if (host !== undefined) return [hostAddress({ host, port }, name)]
  const endpoints = backend === undefined ? undefined : endpointsOf(serviceOf(backend))
  return (endpoints ?? []).map((endpoint) => ({ ...endpointAddress(endpoint, name), isReplica: true }))
}

/** `Service/<namespace>/<name>/<port>` without its kind. */
function serviceOf(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}
