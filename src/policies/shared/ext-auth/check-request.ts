import { fromByteText } from '#base/byte-text.ts'
import type { JsonObject } from '#base/json.ts'
import type { MessageValue } from '#base/protobuf/message.ts'
import { isShallow } from '#base/protobuf/struct.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { spiffeIdOf } from '#exchange/spiffe-id.ts'
import { traceId } from '#exchange/trace-parent.ts'
import type { Head } from '#net/http/head.ts'
import { foldName } from '#net/http/same-name.ts'
import type { CHECK_REQUEST } from './check-messages.ts'

export type CheckRequest = MessageValue<typeof CHECK_REQUEST>

/** The configured parts of the question. */
export interface CheckSettings {
  /** Names of the headers that the server sees, folded (`foldName`), pseudo-headers included. */
  readonly sentHeaders: ReadonlySet<string> | 'all'
  readonly contextExtensions: ReadonlyMap<string, string> | undefined
  /** Undefined: the claims of a validated token, under the key of the JWT filter. */
  readonly requestMetadata: readonly (readonly [key: string, value: Expression])[] | undefined
}

/** Where servers look for the claims of a token. */
const JWT_FILTER = 'envoy.filters.http.jwt_authn'

// A byte order mark is content.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The question about a request. @param body undefined: it is not forwarded */
export function checkRequest(settings: CheckSettings, exchange: Exchange, body: Uint8Array | undefined): CheckRequest {
  const { request, peer, scheme, version, context } = exchange
  const startMs = context.now() - (context.monotonic() - exchange.startMonotonicMs)
  const seconds = Math.floor(startMs / 1000)
  const http = {
    id: traceId(request) ?? context.uuid().replaceAll('-', ''),
    method: request.method,
    headers: headersOf(request, scheme, settings),
    path: request.target,
    host: request.authority,
    scheme,
    size: body?.length ?? 0,
    protocol: `HTTP/${version}`,
    ...bodyOf(body),
  }
  return {
    attributes: {
      source: { ...addressOf(peer.remoteAddress, peer.remotePort), principal: spiffeIdOf(peer.certificate) },
      destination: addressOf(peer.localAddress, peer.localPort),
      request: { time: { seconds, nanos: Math.floor((startMs - 1000 * seconds) * 1e6) }, http },
      contextExtensions: settings.contextExtensions,
      metadataContext: { filterMetadata: metadataOf(settings, exchange) },
      tlsSession: peer.secure ? { sni: peer.serverName } : undefined,
    },
  }
}

/** As text, in which bytes that are not UTF-8 are U+FFFD. Then the server gets the bytes as well. */
function bodyOf(bytes: Uint8Array | undefined) {
  const body = bytes && decoder.decode(bytes)
  return body?.includes('\ufffd') === true ? { body, rawBody: bytes } : { body }
}

function addressOf(address: string, portValue: number) {
  return { address: { socketAddress: { address, portValue } } }
}

/** Repeated fields are one text, as expressions read them. Bytes that are not UTF-8 become U+FFFD. */
function headersOf(request: Head, scheme: string, { sentHeaders }: CheckSettings): Map<string, string> {
  const headers = new Map([
    [':method', request.method],
    [':authority', request.authority],
    [':path', request.target],
    [':scheme', scheme],
  ])
  request.each((name, value) => {
    const before = headers.get(name)
    const text = fromByteText(value)
    headers.set(name, before === undefined ? text : `${before}${name === 'cookie' ? '; ' : ', '}${text}`)
  })
  if (sentHeaders === 'all') return headers
  return new Map([...headers].filter(([name]) => sentHeaders.has(foldName(name))))
}

/** A value that fails, that is not a map, or that the server could not read is left out: a client must not make the question fail. */
function metadataOf({ requestMetadata }: CheckSettings, exchange: Exchange): ReadonlyMap<string, JsonObject> {
  const metadata = new Map<string, JsonObject>()
  if (requestMetadata === undefined) {
    const claims = exchange.identity.jwt?.claims
    if (claims !== undefined && isShallow(claims)) metadata.set(JWT_FILTER, { jwt_payload: claims })
    return metadata
  }
  for (const [key, expression] of requestMetadata) {
    const value = expression.json(exchange)
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isMap && isShallow(value)) metadata.set(key, value as JsonObject)
  }
  return metadata
}
