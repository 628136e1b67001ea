import { hostAddress } from '../address.ts'
import type { BackendProtocol, FindEndpoints } from '../backend-protocol.ts'
import { mcpBackend } from './config/backend-schema.ts'
import { compileMcp } from './config/compile-mcp.ts'
import { mcp as policy } from './config/policy.ts'
import type { ResolvedMcpBackend, ResolvedMcpTarget } from './config/resolved-backend.ts'
import { describeMcp, explainMcp } from './explain-mcp.ts'
import { handleMcp } from './handle-mcp.ts'
import { MCP_MEMORY } from './session/mcp-memory.ts'

/** MCP servers behind one endpoint (specification 1, 2.3.4). The gateway terminates the protocol and calls the servers itself. */
export const mcp = {
  name: 'mcp',
  schema: mcpBackend,
  policy,
  // Tools can take long, and the protocol has its own time limits.
  responseTimeoutMs: 0,
  rewritesHost: true,
  addresses: ({ spec }, endpointsOf) => [spec.targets.flatMap((target) => targetAddress(target, endpointsOf))],
  sectionNames: ({ targets }, section) => {
    // A target has its own name and that of its entry (decision B60).
    const target = targets.find(({ name }) => name === section)
    const names = [...new Set([section, target?.entry ?? section])]
    return target?.backend === undefined ? { names } : { names, service: serviceOf(target.backend) }
  },
  compile: (backend, settings, context) => {
    const plan = compileMcp(backend, settings, context)
    return {
      serve: (exchange, body, { worker, ...services }) =>
        handleMcp(plan, exchange, body, { ...services, memory: MCP_MEMORY.of(worker) }),
      explain: (exchange, _endpoint, boundToLoopback) => {
        const body = exchange.newRequestBody ?? exchange.requestBody ?? undefined
        const explanation = explainMcp(plan, exchange, body, boundToLoopback)
        return { lines: describeMcp(explanation), refusal: explanation.refusal }
      },
    }
  },
} as const satisfies BackendProtocol<ResolvedMcpBackend> & { readonly schema: unknown; readonly policy: unknown }

/** The address of a target behind a Service is its first ready endpoint; without one it has no address. */
function targetAddress({ name, host, port, backend, broken }: ResolvedMcpTarget, endpointsOf: FindEndpoints) {
  if (broken !== undefined) return []
  if (host !== undefined) return [hostAddress({ host, port }, name)]
  const first = backend === undefined ? undefined : endpointsOf(serviceOf(backend))?.[0]
  return first === undefined ? [] : [hostAddress(first, name)]
}

/** `Service/<namespace>/<name>/<port>` without its kind. */
function serviceOf(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}
