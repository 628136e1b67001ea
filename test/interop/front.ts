import { startEcho } from '#examples/upstreams/echo.ts'
import { freePort } from '../support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml } from '../support/objects-folder.ts'

/** A running gateway with one HTTP listener. */
export interface Front {
  readonly port: number
  readonly gateway: GatewayProcess
  ask(path: string, init?: RequestInit): Promise<Response>
}

/** Starts a gateway `main`, a ProxyBackend `echo` that returns what it receives, and these objects. */
export function startFront(stops: AsyncDisposableStack, ...objects: readonly string[]): Promise<Front> {
  return startFrontWith({}, stops, ...objects)
}

/** The same, with these environment variables. */
export async function startFrontWith(
  environment: Readonly<Record<string, string>>,
  stops: AsyncDisposableStack,
  ...objects: readonly string[]
): Promise<Front> {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(gatewayYaml(port), backendYaml('echo', echo.port), ...objects),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGatewayProcess({ files: [folder.path], workers: 2, environment }))
  return { port, gateway, ask: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init) }
}

export const proxyBackend = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })
