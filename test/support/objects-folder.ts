import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of object files for one test. */
export interface ObjectsFolder {
  readonly path: string
  /** Writes a file like an editor: to a temporary file, which then replaces the old one. */
  write(name: string, text: string): Promise<void>
  remove(): Promise<void>
}

export async function createObjectsFolder(files: Readonly<Record<string, string>>): Promise<ObjectsFolder> {
  const path = await mkdtemp(join(tmpdir(), 'gatewright-test-'))
  const folder: ObjectsFolder = {
    path,
    async write(name, text) {
      const draft = join(path, `${name}.draft`)
      await writeFile(draft, text)
      await rename(draft, join(path, name))
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
  for (const [name, text] of Object.entries(files)) await folder.write(name, text)
  return folder
}

/** A Gateway `main` with one HTTP listener. */
export function gatewayYaml(port: number): string {
  return listenersYaml('main', [`{ name: http, protocol: HTTP, port: ${port} }`])
}

/** A Gateway with these listeners; `more`: further lines of its spec. */
export function listenersYaml(name: string, listeners: readonly string[], more = ''): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: ${name} }
spec:
  gatewayClassName: gatewright
  listeners:
${listeners.map((listener) => `    - ${listener}\n`).join('')}${more}`
}

/** A ProxyBackend of that name at a loopback port. */
export function backendYaml(name: string, port: number): string {
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec:
  static: { host: 127.0.0.1, port: ${port} }
`
}

/** A reference to a ProxyBackend. */
export const backendRef = (name: string) => ({ group: 'gatewright.dev', kind: 'ProxyBackend', name })

/** A route of that name: everything under a prefix goes to a ProxyBackend. */
export function routeYaml(name: string, prefix: string, backend: string, more = ''): string {
  return `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name} }
spec:
  parentRefs: [{ name: main }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: ${prefix} } }]
      backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: ${backend} }]
${more}`
}

/** A Service of that name with an endpoint at each of these loopback ports, and a route to it under `/<name>`. */
export function serviceYaml(name: string, ports: readonly number[]): string {
  return joinYaml(
    `
apiVersion: v1
kind: Service
metadata: { name: ${name} }
spec: { ports: [{ port: 80 }] }
`,
    ...ports.map(
      (at, i) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: ${name}-${i}, labels: { kubernetes.io/service-name: ${name} } }
addressType: IPv4
endpoints: [{ addresses: [127.0.0.1] }]
ports: [{ port: ${at} }]
`,
    ),
    routeYaml(name, `/${name}`, name).replace(
      `group: gatewright.dev, kind: ProxyBackend, name: ${name}`,
      `name: ${name}, port: 80`,
    ),
  )
}

/** Several objects in one file. */
export function joinYaml(...objects: readonly string[]): string {
  return objects.join('---')
}
