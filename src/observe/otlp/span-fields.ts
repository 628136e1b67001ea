import { hideCredentialParameters, redactTarget } from '#base/credential-names.ts'
import type { Exchange, MatchedPath } from '#exchange/exchange.ts'
import { readGrpcStatus } from '#exchange/read-grpc-status.ts'
import type { ClientSpan } from '#exchange/request-span.ts'
import { grpcStatusName } from '#net/grpc/status-fields.ts'
import { isGrpcRequest } from '#net/http/request-rules.ts'
import type { Peer } from '#net/peer.ts'
import { cutName } from '../cut-name.ts'
import type { Ended } from '../ended.ts'
import { ENDED, type Field, type FieldName, type Group, LLM_CALL } from '../fields.ts'
import { METHODS } from '../metrics/known-values.ts'

// Attributes of spans. Fields of the access log have the names of OpenTelemetry's semantic conventions (1.45), where these have one, and their
// own names otherwise.

/** Other names of fields; null: they are no attribute of spans, or other attributes have their value. */
const NAMES: Partial<Readonly<Record<FieldName, string | null>>> = {
  'src.addr': null,
  'http.method': null,
  'http.host': 'server.address',
  'http.path': null,
  'http.version': null,
  'http.status': 'http.response.status_code',
  'grpc.status': null,
  'trace.id': null,
  'span.id': null,
  // Of LLM calls only.
  'error.type': null,
  // The host of the provider is that of the client span.
  'server.address': null,
  error: null,
  duration: null,
}

/** An attribute of spans with the field of the access log that has its value, if any. */
interface Attribute<S> extends Field<S> {
  readonly of?: FieldName
}

const CLIENT: readonly Attribute<Peer>[] = [
  { name: 'client.address', of: 'src.addr', read: ({ remoteAddress }) => remoteAddress },
  { name: 'client.port', of: 'src.addr', read: ({ remotePort }) => remotePort },
  { name: 'network.peer.address', read: ({ rawAddress }) => rawAddress },
  { name: 'network.peer.port', read: ({ rawPort }) => rawPort },
]

const REQUEST: readonly Attribute<Exchange>[] = [
  { name: 'http.request.method', of: 'http.method', read: ({ originalMethod }) => knownMethod(originalMethod) },
  {
    name: 'http.request.method_original',
    of: 'http.method',
    read: ({ originalMethod }) => (METHODS.has(originalMethod) ? undefined : originalMethod),
  },
  { name: 'url.scheme', read: ({ scheme }) => scheme },
  {
    name: 'url.path',
    of: 'http.path',
    read: ({ loggedTarget }) => loggedTarget.split('?', 1)[0],
  },
  { name: 'url.query', of: 'http.path', read: ({ loggedTarget }) => queryOf(loggedTarget) },
  { name: 'server.port', of: 'http.host', read: ({ peer }) => peer.localPort },
  { name: 'http.route', read: ({ matchedPath }) => matchedPath && routeOf(matchedPath) },
  { name: 'user_agent.original', read: userAgentOf },
  { name: 'network.protocol.version', of: 'http.version', read: ({ version }) => version },
]

const GRPC: readonly Attribute<Exchange>[] = [
  { name: 'rpc.system.name', read: () => 'grpc' },
  { name: 'rpc.method', read: grpcMethod },
  { name: 'rpc.response.status_code', of: 'grpc.status', read: grpcStatus },
]

const ATTEMPT: readonly Attribute<ClientSpan>[] = [
  { name: 'http.request.method', of: 'http.method', read: ({ request }) => request && knownMethod(request.method) },
  { name: 'server.address', of: 'http.host', read: ({ destination }) => destination?.unixPath ?? destination?.host },
  {
    name: 'server.port',
    of: 'http.host',
    read: ({ destination: to }) => (to?.unixPath === undefined ? to?.port : undefined),
  },
  { name: 'url.full', of: 'http.path', read: fullUrl },
  { name: 'http.request.resend_count', usual: 0, read: ({ resends }) => resends },
  { name: 'http.response.status_code', of: 'http.status', read: ({ status }) => status },
  { name: 'rpc.response.status_code', of: 'grpc.status', read: ({ grpcStatus: name }) => name },
  { name: 'gatewright.call.purpose', read: ({ purpose }) => purpose },
  { name: 'mcp.method.name', read: ({ mcp }) => mcp && cutName(mcp.method) },
  { name: 'gen_ai.tool.name', read: ({ mcp }) => mcp?.tool && cutName(mcp.tool) },
  { name: 'gen_ai.prompt.name', read: ({ mcp }) => mcp?.prompt && cutName(mcp.prompt) },
]

/** An attempt to forward a request, or a call of the gateway. */
export interface EndedSpan {
  readonly span: ClientSpan
  /** The request that is forwarded; undefined for calls. */
  readonly exchange: Exchange | undefined
}

/** The attributes of the span of a request. @param removed names of attributes, or of fields of the access log */
export function requestFields(removed: ReadonlySet<string>): readonly Group<Ended>[] {
  const renamed = (ENDED as readonly Group<Ended>[]).map((group) => ({
    ...group,
    fields: group.fields.flatMap((field): readonly Field<object>[] => {
      const name = NAMES[field.name as FieldName]
      if (name === null || field.logged === false || removed.has(field.name)) return []
      return [{ ...field, name: name ?? field.name }]
    }),
  }))
  return [
    group(({ exchange }: Ended) => exchange.peer, CLIENT, removed),
    group(({ exchange }: Ended) => exchange, REQUEST, removed),
    group(({ exchange }: Ended) => (isGrpc(exchange) ? exchange : undefined), GRPC, removed),
    ...renamed,
  ]
}

/** The attributes of the spans of attempts and calls. */
export function clientFields(removed: ReadonlySet<string>): readonly Group<EndedSpan>[] {
  const ofModels = LLM_CALL.map(({ of, fields }) => ({
    of: ({ exchange }: EndedSpan) => exchange && of({ exchange }),
    fields: fields.filter(({ name }) => NAMES[name as FieldName] !== null),
  })) as unknown as readonly Group<EndedSpan>[]
  return [group(({ span }: EndedSpan) => span, ATTEMPT, removed), ...ofModels]
}

function group<E, S extends object>(
  of: (event: E) => S | undefined,
  fields: readonly Attribute<S>[],
  removed: ReadonlySet<string>,
): Group<E> {
  const kept = fields.filter(({ of: name }) => name === undefined || !removed.has(name))
  // Fields are read with what `of` returns.
  return { of, fields: kept as readonly Field<object>[] }
}

/** Clients choose methods freely. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}

export function isGrpc({ version, request }: Exchange): boolean {
  return version === '2' && isGrpcRequest(request)
}

/** `package.Service/Method`; paths that no route matches may be anything. */
export function grpcMethod({ originalTarget, matchedPath, names }: Exchange): string {
  const isRouted = matchedPath !== undefined || names?.routeKind === 'GRPCRoute'
  return isRouted ? originalTarget.slice(1).split('?', 1)[0]! : '_OTHER'
}

function grpcStatus(exchange: Exchange): string | undefined {
  const status = readGrpcStatus(exchange)
  return status === undefined ? undefined : grpcStatusName(`${status}`)
}

/** The path of the match, as a template. */
export function routeOf({ type, value }: MatchedPath): string {
  if (type !== 'PathPrefix') return value
  return value.endsWith('/') ? `${value}*` : `${value}/*`
}

function queryOf(target: string): string | undefined {
  const at = target.indexOf('?')
  return at === -1 ? undefined : target.slice(at + 1)
}

function fullUrl({ of, request, destination }: ClientSpan): string | undefined {
  if (request === undefined || destination === undefined) return undefined
  const { authority, target } = request
  return `${destination.tls === undefined ? 'http' : 'https'}://${authority}${redactTarget(target, of.redactedParameters)}`
}

function userAgentOf({ request }: Exchange): string | undefined {
  const text = request.joined('user-agent')
  return text === undefined ? undefined : hideCredentialParameters(text)
}
