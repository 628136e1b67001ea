import { freePort } from '../../support/free-port.ts'
import type { StartGateway } from '../../support/gateway-options.ts'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '../../support/objects-folder.ts'

/** The ports of MCP servers on this machine, by target name, by backend name. */
export type McpBackends = Readonly<Record<string, Readonly<Record<string, number | McpTarget>>>>

export interface McpTarget {
  readonly port: number
  readonly path?: string
  readonly protocol?: 'StreamableHTTP' | 'SSE'
}

export interface McpGateway {
  readonly port: number
}

export interface McpGatewayOptions {
  readonly sessionRouting?: 'Stateful' | 'Stateless'
  /** Default: in a process. */
  readonly start?: StartGateway
}

/** Starts a gateway with two workers and a backend of MCP targets under `/NAME` for each name. */
export async function startMcpGateway(
  stops: AsyncDisposableStack,
  backends: McpBackends,
  { sessionRouting = 'Stateful', start = startGatewayProcess }: McpGatewayOptions = {},
): Promise<McpGateway> {
  const port = await freePort()
  const objects = Object.entries(backends).flatMap(([name, targets]) => [
    mcpBackendYaml(name, targets, sessionRouting),
    routeYaml(name, `/${name}`, name),
  ])
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(gatewayYaml(port), ...objects) })
  stops.defer(folder.remove)
  stops.use(await start({ files: [folder.path], workers: 2 }))
  return { port }
}

function mcpBackendYaml(name: string, targets: McpBackends[string], sessionRouting: string): string {
  const entries = Object.entries(targets).map(([target, at]) => {
    const place = typeof at === 'number' ? { port: at } : at
    return `      - { name: ${target}, static: ${JSON.stringify({ host: '127.0.0.1', ...place })} }\n`
  })
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec:
  mcp:
    sessionRouting: ${sessionRouting}
    targets:
${entries.join('')}`
}
