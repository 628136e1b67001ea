import { clientOrigin } from '#exchange/client-origin.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { normalPath } from '#net/http/path-form.ts'

/** Where a card was requested, on both sides of the gateway. */
export interface CardLocation {
  /** How the client reaches the gateway: `https://agents.example`. */
  readonly clientOrigin: string
  /** Path of the client's request before any policy, in normal form, without query. */
  readonly clientPath: string
  /** Path of the request to the agent, without query. */
  readonly upstreamPath: string
  /** `host:port` of the backend. */
  readonly backendAuthority: string
}

/** The location of the card of an exchange. */
export function cardLocation(exchange: Exchange, backendAuthority: string): CardLocation {
  return {
    clientOrigin: clientOrigin(exchange),
    clientPath: normalPath(withoutQuery(exchange.originalTarget)),
    upstreamPath: withoutQuery(exchange.request.target),
    backendAuthority,
  }
}

function withoutQuery(target: string): string {
  return target.split('?', 1)[0]!
}

/** Maps paths of the agent to paths of the gateway. */
export interface PathMap {
  /** Prefix that the gateway adds; '' or a path without trailing slash. */
  readonly clientPrefix: string
  /** Prefix of the agent that `clientPrefix` replaces. */
  readonly upstreamPrefix: string
  /** Before paths outside the prefix: the route does not lead to them. */
  readonly outside: string
}

/** The end of a path that serves an agent card, in any spelling that servers accept. */
const CARD_SUFFIX = /\/\.well-known\/agent(?:-card)?\.json(?:;[^/]*)?\/*$/i

/**
 * Derives how the route changes paths from the two paths of the card: their common last segments are the part that no rewrite changed. A route for
 * the card alone, to another place than that of a card, says nothing about other paths: they are looked for below the place of the card.
 */
export function mapPaths({ clientPath, upstreamPath }: CardLocation): PathMap {
  const clientBase = CARD_SUFFIX.exec(clientPath)?.index
  const upstreamBase = CARD_SUFFIX.exec(upstreamPath)?.index
  const areBoth = clientBase !== undefined && upstreamBase !== undefined
  const client = clientPath.slice(0, areBoth ? clientBase : undefined).split('/')
  const upstream = upstreamPath.slice(0, areBoth ? upstreamBase : undefined).split('/')
  while (client.length > 1 && upstream.length > 1 && client.at(-1) === upstream.at(-1)) {
    client.pop()
    upstream.pop()
  }
  const clientPrefix = client.join('/')
  const upstreamPrefix = upstream.join('/').replace(/\/$/, '')
  const isOnlyCard = clientBase !== undefined && upstreamBase === undefined
  return { clientPrefix, upstreamPrefix, outside: isOnlyCard ? clientPath.slice(0, clientBase) : '' }
}

/** The gateway's path for a path of the agent; '' for the root, so that a root URL has no trailing slash. */
export function toClientPath({ clientPrefix, upstreamPrefix, outside }: PathMap, path: string): string {
  const bare = path === '/' ? '' : path
  const isUnder = bare === upstreamPrefix || bare.startsWith(`${upstreamPrefix}/`)
  return isUnder ? clientPrefix + bare.slice(upstreamPrefix.length) : outside + bare
}
