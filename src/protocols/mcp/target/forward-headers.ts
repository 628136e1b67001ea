import type { Exchange } from '#exchange/exchange.ts'
import { NameTable } from '#net/http/name-table.ts'
import { isSameName } from '#net/http/same-name.ts'
import type { McpPlan, McpTargetPlan } from '../config/mcp-plan.ts'
import { eraOf } from '../message/protocol-version.ts'
import type { TargetSession } from '../session/target-session.ts'

type Headers = (readonly [name: string, value: string])[]

/**
 * Headers of a request to a target: those of the client, except headers of its connection, body or session (decision B80), and the session
 * of the target. Every request has content type JSON, also without a body: the client's content type is dropped.
 */
export function targetHeaders(
  plan: McpPlan,
  exchange: Exchange,
  target: McpTargetPlan,
  session: TargetSession | undefined,
): Headers {
  const headers: Headers = []
  const keepsCredentials = !plan.multiplexes || target.takesCredentials
  exchange.request.each((name, value) => {
    if (!keepsCredentials && CREDENTIALS.some((credential) => isSameName(name, credential))) return
    // A target that is initialised would take the revision of a client without sessions for its own.
    if (name === 'mcp-protocol-version' && (session !== undefined || eraOf(value.trim()) === 'modern')) return
    headers.push([name, value])
  }, OWN_FIELDS)
  headers.push(['accept-encoding', 'identity'])
  if (session === undefined) return headers
  headers.push(['mcp-protocol-version', session.version])
  // With the older transport, it is the id of a connection.
  if (session.sessionId !== undefined && target.protocol !== 'SSE') headers.push(['mcp-session-id', session.sessionId])
  return headers
}

/** Headers of an error of a target that is forwarded unchanged. */
export function passedHeaders(headers: readonly (readonly [name: string, value: string])[]): Headers {
  return headers.filter(([name]) => !OWN_FIELDS.hasSame(name) || name === 'content-type' || name === 'content-encoding')
}

const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie']

/** Headers that the gateway or the connection sets. */
const OWN_FIELDS = new NameTable([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
