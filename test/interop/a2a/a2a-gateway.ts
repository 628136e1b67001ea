import { freePort } from '../../support/free-port.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { createObjectsFolder, joinYaml, listenersYaml } from '../../support/objects-folder.ts'
import type { PairAgent } from './scenarios.ts'

export interface A2aGateway {
  readonly gateway: TestGateway
  /** The part of the URL of an agent before `/BINDING-VERSION`, and the address for its calls of gRPC, by the name of the agent. */
  readonly agents: Readonly<Record<string, { readonly url: string; readonly grpc: string }>>
}

/** Starts a gateway that serves each agent under a path of its own, and calls of gRPC at a port of its own. */
export async function startA2aGateway(stops: AsyncDisposableStack, agents: readonly PairAgent[]): Promise<A2aGateway> {
  const port = await freePort()
  const places: Record<string, { url: string; grpc: string }> = {}
  const listeners = [`{ name: http, protocol: HTTP, port: ${port} }`]
  const objects: string[] = []
  for (const [index, agent] of agents.entries()) {
    const grpc = await freePort()
    const name = `agent-${index}`
    listeners.push(`{ name: ${name}, protocol: HTTP, port: ${grpc} }`)
    const path = { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' }
    const filters = [{ type: 'URLRewrite', urlRewrite: { path } }]
    objects.push(
      agentYaml(name, agent.port),
      routeYaml(name, 'http', `/${name}`, { filters }),
      agentYaml(`${name}-grpc`, agent.grpcPort),
      routeYaml(`${name}-grpc`, name, '/', {}),
    )
    places[agent.name] = { url: `http://127.0.0.1:${port}/${name}`, grpc: `127.0.0.1:${grpc}` }
  }
  const folder = await createObjectsFolder({ 'all.yaml': joinYaml(listenersYaml('main', listeners), ...objects) })
  stops.defer(folder.remove)
  const environment = { GATEWRIGHT_LOG_FORMAT: 'json' }
  return { gateway: stops.use(await startGateway({ files: [folder.path], workers: 1, environment })), agents: places }
}

function agentYaml(name: string, port: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec: { a2a: { host: 127.0.0.1, port: ${port} } }
`
}

function routeYaml(name: string, sectionName: string, prefix: string, more: object): string {
  const rule = {
    matches: [{ path: { type: 'PathPrefix', value: prefix } }],
    ...more,
    backendRefs: [{ group: 'gatewright.dev', kind: 'ProxyBackend', name }],
  }
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify({ parentRefs: [{ name: 'main', sectionName }], rules: [rule] })}
`
}
