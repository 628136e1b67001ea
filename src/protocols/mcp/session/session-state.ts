import { toByteText } from '#base/byte-text.ts'
import type { Json } from '#base/json.ts'
import { openJson, type Sealer, sealJson } from '#base/sealer.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import type { Identity } from '#exchange/exchange.ts'
import type { OnceMemory } from '#state/once-memory.ts'
import { CAPABILITIES, type Capability } from './capabilities.ts'
import type { TargetSession } from './target-session.ts'

/** Maximum lifetime of a session, even if it is active (decision B65). */
const MAX_AGE_MS = 24 * 60 * 60 * 1000

/**
 * A session of a client with the targets of one backend. Its whole state is sealed in the session id, so that any worker of any replica can
 * serve its requests (decisions B64, B65).
 */
export interface Session {
  /** Value of `mcp-session-id`; '' if the client has none. */
  readonly id: string
  /** Random. Binds cursors and references to the session, and identifies it as deleted. */
  readonly key: string
  readonly createdMs: number
  readonly targets: readonly TargetSession[]
}

/** The owner of a session; requests of others do not find it. */
export interface SessionOwner {
  /** Key of the backend. */
  readonly backend: string
  readonly identity: Identity
}

/** `malformed`: not an id of the gateway. `unknown`: expired, deleted, owned by another client, or sealed with a removed key. */
export type SessionProblem = 'malformed' | 'unknown'

interface SealedSession {
  readonly k: 'session'
  readonly b: string
  readonly i: string
  readonly r: string
  readonly c: number
  /** Name, session id, version, capabilities as one letter each. */
  readonly t: readonly (readonly [string, string | null, string, string])[]
}

export function sealSession(sealer: Sealer, owner: SessionOwner, session: Omit<Session, 'id'>): Session {
  const sealed: SealedSession = {
    k: 'session',
    b: owner.backend,
    i: digestOfCaller(owner.identity),
    r: session.key,
    c: session.createdMs,
    t: session.targets.map(({ target, sessionId, version, capabilities }) => [
      target,
      sessionId ?? null,
      version,
      [...capabilities].map((capability) => CAPABILITIES[capability]).join(''),
    ]),
  }
  return { ...session, id: sealJson(sealer, sealed) }
}

export interface OpenSessionTools {
  readonly sealer: Sealer
  readonly once: OnceMemory
  readonly nowMs: number
}

export function openSession(
  id: string,
  owner: SessionOwner,
  { sealer, once, nowMs }: OpenSessionTools,
): Session | SessionProblem {
  const sealed = openJson<SealedSession>(sealer, 'session', id)
  if (sealed === undefined) return looksSealed(id) ? 'unknown' : 'malformed'
  if (sealed.b !== owner.backend || sealed.i !== digestOfCaller(owner.identity)) return 'unknown'
  if (nowMs - sealed.c > MAX_AGE_MS || once.isSpent('session', sealed.r)) return 'unknown'
  return {
    id,
    key: sealed.r,
    createdMs: sealed.c,
    targets: sealed.t.map(([target, sessionId, version, letters]) => ({
      target,
      sessionId: sessionId ?? undefined,
      version,
      capabilities: new Set(CAPABILITY_NAMES.filter((capability) => letters.includes(CAPABILITIES[capability]))),
    })),
  }
}

/** Invalidates the id of the session. */
export function endSession(session: Session, once: OnceMemory): void {
  once.spend('session', session.key)
}

const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as Capability[]

/**
 * Distinguishes a sealed id from arbitrary text. The key may have changed since, and clients start a new session only after a 404;
 * arbitrary text is an error of the client.
 */
function looksSealed(id: string): boolean {
  return /^[A-Za-z0-9_-]{64,}$/.test(id)
}

/**
 * The digest is the same for the same client: `iss` and `sub` of a token, the full name of the entry of an API key, the user of basic
 * authentication, or all of these that the request has. A token without `sub` does not identify a client, so only the same token is the same client.
 */
function digestOfCaller({ jwt, apiKey, basicAuth }: Identity): string {
  const caller: Record<string, Json> = {}
  if (jwt !== undefined) caller.jwt = [jwt.claims.iss ?? null, jwt.claims.sub ?? { token: jwt.token }]
  if (apiKey !== undefined) caller.apiKey = apiKey.entry
  if (basicAuth !== undefined) caller.basicAuth = basicAuth.username
  return sha256OfByteText(toByteText(JSON.stringify(caller))).slice(0, 32)
}
