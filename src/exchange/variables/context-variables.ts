import { fromJson, JsonMap, type Result, type Variable } from '#cel/index.ts'
import type { Exchange, Json } from '../exchange.ts'
import type { McpFacts } from '../mcp-facts.ts'
import { SecretText } from './secret-text.ts'

type Variables = readonly Variable<Exchange>[]

/** Who calls, at the level of the connection. */
export const SOURCE: Variables = [
  { path: 'source.address', type: 'string', read: ({ peer }) => peer.remoteAddress },
  { path: 'source.port', type: 'int', read: ({ peer }) => peer.remotePort },
  { path: 'source.rawAddress', type: 'string', read: ({ peer }) => peer.remoteAddress },
  { path: 'source.rawPort', type: 'int', read: ({ peer }) => peer.remotePort },
]

/** The gateway's side of the connection, and where in the configuration the request is. */
export const PLACE: Variables = [
  { path: 'destination.address', type: 'string', read: ({ peer }) => peer.localAddress },
  { path: 'destination.port', type: 'int', read: ({ peer }) => peer.localPort },
  { path: 'destination.hostname', type: 'string', read: ({ peer }) => peer.serverName },
  { path: 'proxy.gateway.namespace', type: 'string', read: (x) => before(x.place?.gateway) },
  { path: 'proxy.gateway.name', type: 'string', read: (x) => after(x.place?.gateway) },
  { path: 'proxy.listener.name', type: 'string', read: (x) => known(x.place?.listener) },
  { path: 'proxy.route.namespace', type: 'string', read: (x) => before(x.place?.route) },
  { path: 'proxy.route.name', type: 'string', read: (x) => after(x.place?.route) },
  { path: 'proxy.route.kind', type: 'string', read: (x) => known(x.place?.routeKind) },
  { path: 'proxy.route.rule', type: 'string', read: (x) => known(x.place?.rule) },
  { path: 'backend.name', type: 'string', read: (x) => known(x.place?.backend) },
  { path: 'backend.type', type: 'string', read: (x) => known(x.place?.backendType) },
  { path: 'backend.protocol', type: 'string', read: (x) => known(x.place?.protocol) },
]

/** What authentication policies validated and other policies left behind. */
export const IDENTITY: Variables = [
  mapVariable('jwt', ({ identity }) => identity.jwt?.claims),
  { path: 'jwt.rawToken', type: 'secret', read: ({ identity }) => secret(identity.jwt?.token) },
  mapVariable('apiKey', ({ identity }) => identity.apiKey?.metadata),
  { path: 'apiKey.key', type: 'secret', read: ({ identity }) => secret(identity.apiKey?.key) },
  { path: 'basicAuth.username', type: 'string', read: ({ identity }) => identity.basicAuth?.username },
  mapVariable('metadata', (x) => x.metadata),
  mapVariable('extauthz', (x) => x.extauthz),
  mapVariable('extproc', (x) => x.extproc),
]

export const LLM: Variables = [
  { path: 'llm.provider', type: 'string', read: (x) => x.llm?.provider },
  { path: 'llm.requestModel', type: 'string', read: (x) => known(x.llm?.requestModel) },
  { path: 'llm.responseModel', type: 'string', read: (x) => x.llm?.responseModel },
  { path: 'llm.streaming', type: 'bool', read: (x) => x.llm?.streaming },
  { path: 'llm.inputTokens', type: 'int', read: (x) => x.llm?.inputTokens },
  { path: 'llm.outputTokens', type: 'int', read: (x) => x.llm?.outputTokens },
  { path: 'llm.totalTokens', type: 'int', read: (x) => x.llm?.totalTokens },
  { path: 'llm.cachedInputTokens', type: 'int', read: (x) => x.llm?.cachedInputTokens },
  { path: 'llm.reasoningTokens', type: 'int', read: (x) => x.llm?.reasoningTokens },
]

/** The client's JSON body, for `transformations` of LLM requests. */
export const LLM_REQUEST: Variables = [
  { path: 'llmRequest', type: 'dyn', read: ({ requestBody }) => parseJson(requestBody) },
]

function parseJson(body: Uint8Array | null | undefined): Result | undefined {
  if (body === null || body === undefined) return undefined
  try {
    return fromJson(JSON.parse(new TextDecoder().decode(body)))
  } catch {
    return undefined
  }
}

export const MCP: Variables = [
  { path: 'mcp.methodName', type: 'string', read: (x) => x.mcp?.method },
  { path: 'mcp.sessionId', type: 'string', read: (x) => x.mcp?.sessionId },
]

/** The item that an MCP message is about; exactly one of the three is there. */
export const MCP_ITEM: Variables = (['tool', 'prompt', 'resource'] as const).flatMap((type) => [
  { path: `mcp.${type}.name`, type: 'string', read: (x: Exchange) => item(x.mcp, type)?.name },
  { path: `mcp.${type}.target`, type: 'string', read: (x: Exchange) => item(x.mcp, type)?.target },
])

function item(mcp: McpFacts | undefined, type: 'tool' | 'prompt' | 'resource'): McpFacts | undefined {
  return mcp?.resourceType === type ? mcp : undefined
}

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

function known(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

function before(name: string | undefined): string | undefined {
  return name === undefined || name === '' ? undefined : name.slice(0, name.indexOf('/'))
}

function after(name: string | undefined): string | undefined {
  return name === undefined || name === '' ? undefined : name.slice(name.indexOf('/') + 1)
}
