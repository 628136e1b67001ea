import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { Head } from '#net/http/head.ts'
import { refuse, refuseUnfit } from '../dialects/refuse.ts'
import { refuseClosed } from '../guards/guarded-refusal.ts'
import type { AiProviderPlan } from '../plan/ai-plan.ts'
import { finalModel } from '../plan/final-model.ts'
import { buildFacts } from '../plan/request-facts.ts'
import type { HeaderEdits } from '../providers/provider.ts'
import { upstreamPath } from '../providers/upstream-path.ts'
import type { EventGuards } from './guarded-session.ts'
import { SessionQuery } from './session-query.ts'

/** A request that opens a session over a WebSocket. */
export interface PreparedSession {
  readonly kind: 'open'
  /** Request target: path and query. */
  readonly path: string
  readonly headers: HeaderEdits
  readonly facts: LlmFacts
  /** Of one message that is read. */
  readonly maxBytes: number
  /** A limit or an expression reads tokens. */
  readonly estimates: boolean
  /** They check the events of the client; undefined: nothing reads them. */
  readonly guarded: EventGuards | undefined
}

/** Realtime: the handshake of a WebSocket, with the model in its query (decision B08). */
export function prepareSession(
  provider: AiProviderPlan,
  exchange: Exchange,
  { maxBytes, estimates }: Pick<PreparedSession, 'maxBytes' | 'estimates'>,
): PreparedSession | Refusal {
  const { request } = exchange
  const { guards } = provider.settings
  const { closed = false } = guards ?? {}
  if (closed !== false) return refuseClosed('Realtime', closed)
  if (request.upgrade.toLowerCase() !== 'websocket') {
    return { ...refuse('Realtime', 'method-not-allowed', 'a WebSocket is required'), headers: [['allow', 'GET']] }
  }
  const query = SessionQuery.read(request.target)
  if (typeof query === 'string') return refuse('Realtime', 'llm-query-invalid', query)
  const model = finalModel(provider, query.model)
  if (model === undefined && !query.namesNoModel) return refuseUnfit('Realtime', 'llm-model-missing')
  const { system, realtime, headers } = provider.provider
  const endpoint = realtime?.(model?.name ?? '')
  if (endpoint === undefined)
    return refuseUnfit('Realtime', 'llm-not-implemented', `from Realtime to provider ${system}`)
  const target = model === undefined ? request.target : query.with(endpoint.parameter, model.name)
  const path = upstreamPath(provider.path ?? endpoint.path, target)
  const { set, remove } = headers(request, provider.credential, path)
  const protocols = protocolsToSend(exchange, provider)
  return {
    kind: 'open',
    path,
    headers: {
      set: protocols === undefined || protocols === '' ? set : [...set, [PROTOCOLS, protocols]],
      // Compressed messages could not be read.
      remove: [...remove, 'sec-websocket-extensions', ...(protocols === '' ? [PROTOCOLS] : [])],
    },
    facts: buildFacts(provider, 'Realtime', { streaming: true, ...model?.facts }),
    maxBytes,
    estimates,
    guarded:
      guards === undefined || guards.request.length === 0
        ? undefined
        : { guards: guards.request, head: exchange.clientHead ?? request },
  }
}

const PROTOCOLS = 'sec-websocket-protocol'

/** Browsers cannot set `Authorization` for a WebSocket, so clients send their key as one of its protocols. */
const KEY_PROTOCOL = /^openai-insecure-api-key\./i

/**
 * The protocols without the key of the client, unless it is for the provider: no policy has authenticated the client, and there is no other
 * credential.
 * @returns undefined: they are sent as they are
 */
function protocolsToSend({ request, identity }: Exchange, { credential }: AiProviderPlan): string | undefined {
  const protocols = request.joined(PROTOCOLS)
  if (protocols === undefined) return undefined
  const { jwt, apiKey, basicAuth } = identity
  const isForProvider =
    credential === undefined && (jwt ?? apiKey ?? basicAuth) === undefined && !hasCredential(request)
  if (isForProvider) return undefined
  return protocols
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !KEY_PROTOCOL.test(protocol))
    .join(', ')
}

/** Also one that was taken from the environment of the gateway. */
function hasCredential(request: Head): boolean {
  return request.has('authorization') || request.has('api-key')
}
