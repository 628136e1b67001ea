import { fromByteText } from '#base/byte-text.ts'
import type { Json } from '#base/json.ts'
import { fromJson, JsonMap, type Result, type Variable } from '#cel/index.ts'
import { bindOf } from '../bind-of.ts'
import type { Exchange } from '../exchange.ts'
import { signedPart } from '../signed-part.ts'
import { type Declared, nonEmpty } from './declared.ts'
import { SecretText } from './secret-text.ts'

/** The gateway side of the connection, and the listener, route and backend of the request. */
export const GATEWAY_NAMES: readonly Declared[] = [
  { path: 'destination.address', type: 'string', always: true, read: ({ peer }) => peer.localAddress },
  { path: 'destination.port', type: 'int', always: true, read: ({ peer }) => peer.localPort },
  { path: 'destination.hostname', type: 'string', read: ({ peer }) => peer.serverName },
  { path: 'proxy.bind', type: 'string', always: true, read: ({ peer }) => bindOf(peer) },
  { path: 'proxy.gateway.namespace', type: 'string', read: (x) => before(x.names?.gateway) },
  { path: 'proxy.gateway.name', type: 'string', read: (x) => after(x.names?.gateway) },
  { path: 'proxy.listener.name', type: 'string', read: (x) => nonEmpty(x.names?.listener) },
  { path: 'proxy.route.namespace', type: 'string', read: (x) => before(x.names?.route) },
  { path: 'proxy.route.name', type: 'string', read: (x) => after(x.names?.route) },
  { path: 'proxy.route.kind', type: 'string', read: (x) => nonEmpty(x.names?.routeKind) },
  { path: 'proxy.route.rule', type: 'string', read: (x) => nonEmpty(x.names?.rule) },
  { path: 'backend.name', type: 'string', read: (x) => nonEmpty(x.names?.backend) },
  { path: 'backend.type', type: 'string', read: (x) => nonEmpty(x.names?.backendType) },
  { path: 'backend.protocol', type: 'string', read: (x) => nonEmpty(x.names?.protocol) },
]

/** Facts about the gateway itself. */
export const ENV: readonly Declared[] = [
  { path: 'env.podName', type: 'string', read: (x) => nonEmpty(x.gateway?.podName) },
  { path: 'env.namespace', type: 'string', read: (x) => nonEmpty(x.gateway?.namespace) },
  { path: 'env.gateway', type: 'string', read: (x) => nonEmpty(x.gateway?.gateway) },
]

/** Identities from authentication policies, and metadata from transformations. */
export const IDENTITY: readonly Declared[] = [
  mapVariable('jwt', ({ identity }) => identity.jwt?.claims),
  { path: 'jwt.rawToken', type: 'secret', read: ({ identity }) => secret(identity.jwt?.token) },
  mapVariable('apiKey', ({ identity }) => identity.apiKey?.metadata),
  {
    path: 'apiKey.key',
    type: 'secret',
    read: ({ identity: { apiKey } }) => secret(apiKey && fromByteText(apiKey.key)),
  },
  { path: 'basicAuth.username', type: 'string', read: ({ identity }) => identity.basicAuth?.username },
  mapVariable('metadata', (x) => x.metadata),
  mapVariable('extauthz', (x) => x.extauthz),
  mapVariable('extproc', (x) => x.extproc),
]

/**
 * `jwt.rawToken` in keys: header and claims. Anyone can write another valid signature of the same token: the ECDSA signatures (r, s) and
 * (r, n - s) are both valid.
 */
export const RAW_TOKEN_IN_KEYS = {
  path: 'jwt.rawToken',
  type: 'secret',
  read: ({ identity: { jwt } }: Exchange) => secret(jwt && signedPart(jwt.token)),
} as const

function mapVariable(
  path: string,
  find: (exchange: Exchange) => Readonly<Record<string, Json>> | undefined,
): Variable<Exchange> {
  return {
    path,
    type: 'map(string, dyn)',
    read: (exchange) => {
      const found = find(exchange)
      return found === undefined ? undefined : new JsonMap(found)
    },
    index: (exchange, key): Result | undefined => {
      const found = find(exchange)
      return found === undefined || !Object.hasOwn(found, key) ? undefined : fromJson(found[key])
    },
  }
}

function secret(text: string | undefined): SecretText | undefined {
  return text === undefined ? undefined : new SecretText(text)
}

function before(name: string | undefined): string | undefined {
  return name === undefined || name === '' ? undefined : name.slice(0, name.indexOf('/'))
}

function after(name: string | undefined): string | undefined {
  return name === undefined || name === '' ? undefined : name.slice(name.indexOf('/') + 1)
}
