import type { JsonObject } from '#base/json.ts'
import { parseJson } from '#base/parse-json.ts'
import { openJson, type Sealer, sealJson } from '#base/sealer.ts'
import type { Identity } from '#exchange/exchange.ts'
import type { SharedTable } from '#state/shared-table.ts'
import { CAPABILITIES, capabilitiesOf } from '../message/capabilities.ts'
import { digestOfCaller } from './caller-of.ts'
import { isIdle, noteUse } from './session-use.ts'
import type { TargetSession } from './target-session.ts'

/** Maximum lifetime of a session, even if it is active (decision B65). */
const MAX_AGE_MS = 24 * 60 * 60 * 1000

/**
 * A session of a client with the targets of one backend. Its whole state is sealed in the session id, so that any worker of any replica can
 * serve its requests (decisions B64, B65).
 */
export interface Session {
  /** Random; '' if the client has no session. Binds cursors and references to the session, and identifies it as deleted. */
  readonly key: string
  readonly createdMs: number
  readonly targets: readonly TargetSession[]
  /** For targets that are initialised later. */
  readonly client: ClientDeclaration
  /** The only target of the backend when the session began, whose names had no prefix; undefined: names had prefixes. */
  readonly bareTarget: string | undefined
  /** For sessions that the targets have for one request only: they last longer, and the caller ends them. Unset for others. */
  readonly keepTargets?: () => void
}

/** What a client declared in its `initialize` request. */
export interface ClientDeclaration {
  readonly protocolVersion: string
  readonly capabilities: JsonObject
  readonly clientInfo: JsonObject
}

/** Of requests that belong to no session. */
export const NO_SESSION: Session = {
  key: '',
  createdMs: 0,
  targets: [],
  client: { protocolVersion: '', capabilities: {}, clientInfo: {} },
  bareTarget: undefined,
}

/** The owner of a session; requests of others do not find it. */
export interface SessionOwner {
  /** Key of the backend. */
  readonly backend: string
  readonly identity: Identity
}

interface SealedSession {
  readonly k: 'session'
  readonly b: string
  readonly i: string
  readonly r: string
  readonly c: number
  readonly t: readonly SealedTarget[]
  readonly d: ClientDeclaration
  readonly n: string | null
}

/** Name, session id, version, capabilities as one letter each, replica. */
export type SealedTarget = readonly [string, string | null, string, string, string | null]

/** @returns the value of `mcp-session-id` */
export function sealSession(sealer: Sealer, owner: SessionOwner, session: Session): string {
  const sealed: SealedSession = {
    k: 'session',
    b: owner.backend,
    i: digestOfCaller(owner.identity),
    r: session.key,
    c: session.createdMs,
    t: session.targets.map(packTarget),
    d: session.client,
    n: session.bareTarget ?? null,
  }
  return sealJson(sealer, sealed)
}

export function packTarget({ target, sessionId, version, capabilities, endpoint }: TargetSession): SealedTarget {
  const letters = [...capabilities].map((capability) => CAPABILITIES[capability]).join('')
  return [target, sessionId ?? null, version, letters, endpoint ?? null]
}

export function unpackTarget([target, sessionId, version, letters, endpoint]: SealedTarget): TargetSession {
  return {
    target,
    sessionId: sessionId ?? undefined,
    version,
    capabilities: capabilitiesOf(letters),
    endpoint: endpoint ?? undefined,
  }
}

export interface OpenSessionTools {
  readonly sealer: Sealer
  readonly table: SharedTable
  readonly nowMs: number
  /** Unset: none are kept. */
  readonly opened?: OpenedSessions
}

/**
 * Undefined: expired, idle, deleted, owned by another client, sealed with a removed key, or not from the gateway. Clients begin a new session only after a
 * 404, so all of these are one case (revisions 2025-03-26 to 2025-11-25, "Session Management").
 */
export function openSession(id: string, owner: SessionOwner, tools: OpenSessionTools): Session | undefined {
  const { sealer, table, nowMs, opened } = tools
  const known = opened?.get(id) ?? unseal(id, sealer)
  if (known === undefined) return undefined
  const { session, backend, caller } = known
  if (backend !== owner.backend || caller !== digestOfCaller(owner.identity)) return undefined
  if (isOver(session, table, nowMs)) return undefined
  noteUse(session, table, nowMs)
  opened?.set(id, known)
  return session
}

function unseal(id: string, sealer: Sealer): OpenedSession | undefined {
  const sealed = openJson<SealedSession>(sealer, 'session', id)
  if (sealed === undefined) return undefined
  const session: Session = {
    key: sealed.r,
    createdMs: sealed.c,
    targets: sealed.t.map(unpackTarget),
    client: sealed.d,
    bareTarget: sealed.n ?? undefined,
  }
  return { session, backend: sealed.b, caller: sealed.i }
}

/** The target's present session, if it was initialised again after the session of the client began. */
export function renewedTarget(
  session: Pick<Session, 'key'>,
  target: string,
  table: SharedTable,
): TargetSession | undefined {
  const packed = table.get(RENEWED, `${session.key} ${target}`)
  return packed === undefined ? undefined : unpackTarget(parseJson(packed) as SealedTarget)
}

export function noteRenewed(session: Session, renewed: TargetSession, table: SharedTable): void {
  table.set(RENEWED, `${session.key} ${renewed.target}`, JSON.stringify(packTarget(renewed)))
}

/** Scope of the shared table: sessions of targets that were initialised again, or later. */
const RENEWED = 'mcp-renewed-target'

/** Invalidates the id of the session. */
export function endSession(session: Session, table: SharedTable): void {
  table.set(ENDED, session.key, '')
}

/** The session was deleted, or it is too old, or it was idle for too long. */
export function isOver(session: Session, table: SharedTable, nowMs: number): boolean {
  return nowMs - session.createdMs > MAX_AGE_MS || isEnded(session, table) || isIdle(session, table, nowMs)
}

/** Its client has deleted it. */
export function isEnded({ key }: Pick<Session, 'key'>, table: SharedTable): boolean {
  return table.get(ENDED, key) !== undefined
}

/** Scope of the shared table: keys of ended sessions. */
const ENDED = 'mcp-ended-session'

/** Sessions that this worker has opened, by id. */
export class OpenedSessions {
  readonly #opened = new Map<string, OpenedSession>()

  get(id: string): OpenedSession | undefined {
    return this.#opened.get(id)
  }

  set(id: string, opened: OpenedSession): void {
    if (this.#opened.has(id)) return
    if (this.#opened.size >= MAX_OPENED) this.#opened.delete(this.#opened.keys().next().value!)
    this.#opened.set(id, opened)
  }
}

/** Together some megabytes. */
const MAX_OPENED = 4096

interface OpenedSession {
  readonly session: Session
  readonly backend: string
  /** Digest of its client. */
  readonly caller: string
}
