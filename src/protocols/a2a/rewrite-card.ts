import { isRawNumber, parseExactJson } from '#base/exact-json.ts'
import { foldCase } from '#base/fold-case.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { findAmbiguousMember, type ObjectShape, shapeOf } from '#base/json-ambiguity.ts'
import { type CardLocation, mapPaths, type PathMap, toClientPath } from './card-location.ts'
import { isJson } from './read-method.ts'

/** Larger cards are forwarded unchanged (decision B87). */
export const MAX_CARD_BYTES = 2 * 1024 * 1024

/** Why a card is forwarded unchanged. */
export type CardKept = 'no-success' | 'compressed' | 'not-json' | 'too-large' | 'nothing-to-rewrite'

export type CardRewrite =
  | {
      readonly kind: 'rewritten'
      readonly body: Uint8Array
      /** The card was signed. Its signatures became invalid and were removed (decision B88). */
      readonly removedSignatures: boolean
    }
  | { readonly kind: 'kept'; readonly why: CardKept }

/** A response that may be a card. */
export interface CardResponse {
  readonly status: number
  readonly contentType: string | undefined
  readonly contentEncoding: string | undefined
  readonly body: Uint8Array
}

/**
 * Replaces the URLs of the interfaces in an agent card with URLs of the gateway (decision B86): `url` and `additionalInterfaces` of
 * protocol 0.3, `supportedInterfaces` of 1.0. Interfaces of other hosts, gRPC interfaces, and everything that is not a card stay unchanged.
 * A rewritten card is unambiguous: no member occurs twice, or also in another letter case.
 */
export function rewriteCard(response: CardResponse, location: CardLocation): CardRewrite {
  const why = checkRewritable(response)
  if (why !== undefined) return { kind: 'kept', why }
  const received = parseCard(response.body)
  if (received === undefined) return { kind: 'kept', why: 'not-json' }

  const { signatures, ...original } = received.card
  const text = JSON.stringify(rewriteInterfaces(original, location))
  if (!received.isAmbiguous && text === JSON.stringify(original)) return { kind: 'kept', why: 'nothing-to-rewrite' }
  return { kind: 'rewritten', body: new TextEncoder().encode(text), removedSignatures: signatures !== undefined }
}

function checkRewritable({ status, contentType, contentEncoding, body }: CardResponse): CardKept | undefined {
  if (status !== 200) return 'no-success'
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') return 'compressed'
  if (body.length > MAX_CARD_BYTES) return 'too-large'
  return isJson(contentType) ? undefined : 'not-json'
}

interface ReceivedCard {
  readonly card: JsonObject
  /** Another parser could find other interfaces in the text. */
  readonly isAmbiguous: boolean
}

function parseCard(body: Uint8Array): ReceivedCard | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    const card = parseExactJson(text)
    if (!isObject(card)) return undefined
    const isAmbiguous = findAmbiguousMember(text, CARD) !== undefined
    return { card: isAmbiguous ? withoutVariants(card, CARD) : card, isAmbiguous }
  } catch {
    return undefined
  }
}

const INTERFACE = shapeOf({ url: undefined, transport: undefined, protocolBinding: undefined })
const CARD = shapeOf({
  url: undefined,
  preferredTransport: undefined,
  additionalInterfaces: INTERFACE,
  supportedInterfaces: INTERFACE,
  signatures: undefined,
})

/** Without members that differ from a rewritten member only in letter case: a client could read them instead. */
function withoutVariants(object: JsonObject, { members, folded }: ObjectShape): JsonObject {
  const kept = Object.entries(object).filter(([key]) => members.has(key) || !folded.has(foldCase(key)))
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const shape = members.get(key)
      if (shape === undefined || !Array.isArray(value)) return [key, value]
      return [key, value.map((entry) => (isObject(entry) ? withoutVariants(entry, shape) : entry))]
    }),
  )
}

interface Rewriter {
  readonly clientOrigin: string
  readonly paths: PathMap
  /** `host:port` of all interfaces that the gateway serves. */
  readonly ownAuthorities: ReadonlySet<string>
}

function rewriteInterfaces(card: JsonObject, location: CardLocation): JsonObject {
  const rewriter: Rewriter = {
    clientOrigin: location.clientOrigin,
    paths: mapPaths(location),
    ownAuthorities: new Set([location.backendAuthority.toLowerCase(), ...ownAuthority(card)]),
  }
  const changed: Record<string, Json> = {}
  if (card.url !== undefined && card.preferredTransport !== 'GRPC') changed.url = rewriteUrl(rewriter, card.url)
  for (const member of ['additionalInterfaces', 'supportedInterfaces'] as const) {
    const interfaces = card[member]
    if (Array.isArray(interfaces)) changed[member] = interfaces.map((entry) => rewriteInterface(rewriter, entry))
  }
  return { ...card, ...changed }
}

/** The URL of the agent itself: `url`, or its preferred interface without `url`. */
function ownAuthority(card: JsonObject): readonly string[] {
  const { url, supportedInterfaces } = card
  const first: Json | undefined = Array.isArray(supportedInterfaces) ? supportedInterfaces[0] : undefined
  const own = parseUrl(url ?? (isObject(first) ? first.url : undefined))
  return own === undefined ? [] : [authorityOf(own)]
}

function rewriteInterface(rewriter: Rewriter, entry: Json): Json {
  if (!isObject(entry) || entry.url === undefined) return entry
  const isGrpc = entry.transport === 'GRPC' || entry.protocolBinding === 'GRPC'
  return isGrpc ? entry : { ...entry, url: rewriteUrl(rewriter, entry.url) }
}

function rewriteUrl({ clientOrigin, paths, ownAuthorities }: Rewriter, value: Json): Json {
  const url = parseUrl(value)
  if (url === undefined || !ownAuthorities.has(authorityOf(url))) return value
  return clientOrigin + toClientPath(paths, url.pathname) + url.search + url.hash
}

function parseUrl(value: Json | undefined): URL | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined
}

/** With an explicit port, so that the scheme does not matter: the gateway may use another scheme to the agent. */
function authorityOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)
}
