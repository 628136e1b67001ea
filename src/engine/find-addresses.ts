import { type Refusal, reject } from '#exchange/outcome.ts'
import type { BackendItem } from '#plan/item.ts'
import type { ResolvedMcpBackend } from '#plan/mcp-targets.ts'
import type { BackendHttpSpec } from '#policies/backend/http/schema.ts'
import type { AiBackendSpec, LlmProviderSpec } from '#protocols/llm/provider-spec.ts'
import { providerDestination } from '#protocols/llm/providers.ts'
import type { Lookups } from './lookups.ts'

/** Somewhere to connect to. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly unixPath: string | undefined
  /** Provider or MCP target. */
  readonly section: string | undefined
  /** What an automatic host rewrite writes; undefined for IP addresses and sockets (decision A-91). */
  readonly hostname: string | undefined
  /** TLS with the system's certificate authorities unless a `tls` policy says otherwise. */
  readonly tls: boolean
  /** The version of HTTP that the port of a Service names. */
  readonly version: BackendHttpSpec['version']
}

/** The addresses of a backend by priority, or why it cannot be used. */
export function findAddresses(item: BackendItem, lookups: Lookups): Address[][] | Refusal {
  switch (item.type) {
    case 'static':
      return [[staticAddress(item.spec as StaticSpec)]]
    case 'a2a':
      return [[hostAddress(item.spec as { host: string; port: number }, undefined)]]
    case 'service':
      return serviceAddresses(item, lookups)
    case 'ai':
      return providerAddresses(item.spec as AiBackendSpec)
    case 'mcp':
      return [targetAddresses(item.spec as ResolvedMcpBackend, lookups)]
    case 'dynamicForwardProxy':
    case 'aws':
      return reject('backend-invalid', { detail: `${item.type} is not implemented yet` })
  }
}

interface StaticSpec {
  readonly host?: string
  readonly port?: number
  readonly unixPath?: string
}

function staticAddress(spec: StaticSpec): Address {
  if (spec.unixPath === undefined) return hostAddress({ host: spec.host!, port: spec.port! }, undefined)
  return {
    host: '',
    port: 0,
    unixPath: spec.unixPath,
    section: undefined,
    hostname: undefined,
    tls: false,
    version: undefined,
  }
}

function hostAddress(
  { host, port }: { host: string; port: number },
  section: string | undefined,
  tls = false,
): Address {
  const bare = host.startsWith('[') ? host.slice(1, -1) : host
  return {
    host: bare,
    port,
    unixPath: undefined,
    section,
    hostname: isAddress(bare) ? undefined : bare,
    tls,
    version: undefined,
  }
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host)
}

interface ServiceSpec {
  readonly hostname: string
  readonly port: number
  readonly appProtocol?: string
}

/** Values of `appProtocol` that name a version: Kubernetes' own, and those in common use. */
const VERSIONS: ReadonlyMap<string, BackendHttpSpec['version']> = new Map([
  ['kubernetes.io/h2c', 'HTTP2'],
  ['h2c', 'HTTP2'],
  ['http2', 'HTTP2'],
  ['grpc', 'HTTP2'],
  ['kubernetes.io/ws', 'HTTP1'],
  ['kubernetes.io/wss', 'HTTP1'],
  ['ws', 'HTTP1'],
  ['wss', 'HTTP1'],
  ['http', 'HTTP1'],
])

function serviceAddresses(item: BackendItem, lookups: Lookups): Address[][] {
  const { hostname, port, appProtocol = '' } = item.spec as ServiceSpec
  const endpoints = lookups.item(`Endpoints/${item.namespace}/${item.name}/${port}`)
  if (endpoints?.kind !== 'endpoints') return [[]]
  const version = VERSIONS.get(appProtocol)
  return [endpoints.addresses.map((address) => ({ ...hostAddress(address, undefined), hostname, version }))]
}

/** A single provider is addressed by policies as section `backend` (docs/behaviour/control.md, "Sections"). */
function providerAddresses(spec: AiBackendSpec): Address[][] {
  if (spec.provider !== undefined) return [[providerAddress(spec.provider, 'backend')]]
  return (spec.groups ?? []).map((group) => group.providers.map((provider) => providerAddress(provider, provider.name)))
}

function providerAddress(provider: LlmProviderSpec, section: string): Address {
  const { host, port, tls } = providerDestination(provider)
  return hostAddress({ host, port }, section, tls)
}

/** Targets behind a Service take its first ready endpoint; a target without one has no address. */
function targetAddresses(spec: ResolvedMcpBackend, lookups: Lookups): Address[] {
  return spec.targets.flatMap((target) => {
    if (target.broken !== undefined) return []
    if (target.host !== undefined) return [hostAddress({ host: target.host, port: target.port }, target.name)]
    const endpoints = lookups.item(`Endpoints/${target.backend?.split('/').slice(1).join('/')}`)
    const first = endpoints?.kind === 'endpoints' ? endpoints.addresses[0] : undefined
    return first === undefined ? [] : [hostAddress(first, target.name)]
  })
}
