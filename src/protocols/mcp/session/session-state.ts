import { toByteText } from '#base/byte-text.ts'
import { openJson, type Sealer, sealJson } from '#base/sealer.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import type { Identity, Json } from '#exchange/exchange.ts'
import type { OnceMemory } from '#state/once-memory.ts'
import { CAPABILITIES, type Capability } from './capabilities.ts'
import type { TargetSession } from './target-session.ts'

/** Longest life of a session, whatever happens in it (decision B65). */
const MAX_AGE_MS = 24 * 60 * 60 * 1000

/**
 * A session of a client with the targets of one backend. All of it stands in the session id, sealed, so that any worker of any
 * replica serves any request of it (decisions B64, B65).
 */
export interface Session {
  /** Value of `mcp-session-id`; '' when the client has none. */
  readonly id: string
  /** Random; ties cursors and answers to the session, and marks it when it is deleted. */
  readonly key: string
  readonly createdMs: number
  readonly targets: readonly TargetSession[]
}

/** Whom a session belongs to; anybody else's request finds none. */
export interface SessionOwner {
  /** Key of the backend. */
  readonly backend: string
  readonly identity: Identity
}

/** `malformed`: not one of our ids; `unknown`: ended, deleted, somebody else's, or sealed with a key that is gone. */
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

/** From now on the id opens no session any more. */
export function endSession(session: Session, once: OnceMemory): void {
  once.spend('session', session.key)
}

const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as Capability[]

/** A key may have been changed since, and clients start anew only after a 404; what never was an id is their mistake. */
function looksSealed(id: string): boolean {
  return /^[A-Za-z0-9_-]{64,}$/.test(id)
}

/**
 * Same caller, same digest: `iss` and `sub` of a token, the full name of the entry of an API key, the user of basic authentication, or
 * all of these that were shown. A token without `sub` names nobody, so only the same token again is the same caller.
 */
function digestOfCaller({ jwt, apiKey, basicAuth }: Identity): string {
  const caller: Record<string, Json> = {}
  if (jwt !== undefined) caller.jwt = [jwt.claims.iss ?? null, jwt.claims.sub ?? { token: jwt.token }]
  if (apiKey !== undefined) caller.apiKey = apiKey.entry
  if (basicAuth !== undefined) caller.basicAuth = basicAuth.username
  return sha256OfByteText(toByteText(JSON.stringify(caller))).slice(0, 32)
}
