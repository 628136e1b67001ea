import { hexOf, type Received } from './collector.ts'
import { backendRef, joinYaml, listenersYaml } from './objects-folder.ts'
import { policyYaml } from './policy-yaml.ts'

/** A Gateway of that name with one listener and a frontend policy, and a route of everything to a ProxyBackend. */
export function frontendYaml(name: string, port: number, frontend: object, backend = 'echo'): string {
  const rules = [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }], backendRefs: [backendRef(backend)] }]
  return joinYaml(
    listenersYaml(name, [`{ name: http, protocol: HTTP, port: ${port} }`]),
    `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec: ${JSON.stringify({ parentRefs: [{ name }], rules })}
`,
    policyYaml(`frontend-${name}`, 'Gateway', name, { frontend }),
  )
}

/** A Service of that name with one endpoint at a loopback port. */
export function endpointYaml(name: string, port: number): string {
  return joinYaml(
    `
apiVersion: v1
kind: Service
metadata: { name: ${name} }
spec: { ports: [{ port: 80 }] }
`,
    `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-1, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
endpoints: [{ addresses: [127.0.0.1] }]
ports: [{ port: ${port} }]
`,
  )
}

/** The identifiers of a span, in hexadecimal digits; empty: it has none. */
export function idsOf({ item }: Received): { readonly trace: string; readonly span: string; readonly parent: string } {
  return { trace: hexOf(item.traceId), span: hexOf(item.spanId), parent: hexOf(item.parentSpanId) }
}
