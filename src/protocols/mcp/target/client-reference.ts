import { toByteText } from '#base/byte-text.ts'
import type { JsonObject } from '#base/json.ts'
import { openJson, sealJson } from '#base/sealer.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import { idKey, isMessageId, isObject, type MessageId } from '../message/json-rpc.ts'
import type { McpDeps } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import type { TargetSession } from '../session/target-session.ts'

/**
 * Replaces an id or a progress token. Different targets may choose the same ids for requests to the client, and a response must find its target
 * through any worker (decision B85). Of several targets, each gets tokens of the client in a form that only this target can use.
 */
export interface ClientReference {
  readonly target: string
  /** As its author wrote it. */
  readonly original: MessageId
  /** Mark of the target's session in which it asked (`sessionMark`); unset: it had none yet, or none. */
  readonly of?: string | undefined
}

interface SealedReference {
  /** `client-progress`: the client chose the token. */
  readonly k: 'id' | 'progress' | 'client-progress'
  /** Key of the session. */
  readonly r: string
  readonly t: string
  readonly o: MessageId
  readonly s?: string | undefined
}

export function sealReference(
  { sealer }: McpDeps,
  session: Pick<Session, 'key'>,
  kind: SealedReference['k'],
  { target, original, of }: ClientReference,
): string {
  return sealJson(sealer, { k: kind, r: session.key, t: target, o: original, s: of } satisfies SealedReference)
}

/** Identifies a session of a target: one that was restarted counts its requests anew. */
export function sessionMark(session: TargetSession | undefined): string | undefined {
  const id = session?.sessionId
  return id && sha256OfByteText(toByteText(id)).slice(0, 16)
}

/** Undefined for references that were not sealed for this session. */
export function openReference(
  { sealer }: McpDeps,
  session: Pick<Session, 'key'>,
  kind: SealedReference['k'],
  text: unknown,
): ClientReference | undefined {
  if (typeof text !== 'string') return undefined
  const sealed = openJson<SealedReference>(sealer, kind, text)
  return sealed?.r === session.key ? { target: sealed.t, original: sealed.o, of: sealed.s } : undefined
}

/** Parameters of a request with another progress token, if they have one. */
export function replaceProgressToken(params: JsonObject, replace: (token: MessageId) => string): JsonObject {
  const meta = params._meta
  if (!isObject(meta) || !isMessageId(meta.progressToken)) return params
  return { ...params, _meta: { ...meta, progressToken: replace(meta.progressToken) } }
}

/** Opens the id of a response; undefined also if the request was answered before. */
export function takeReference(
  deps: McpDeps,
  session: Pick<Session, 'key'>,
  id: MessageId,
): ClientReference | undefined {
  const reference = openReference(deps, session, 'id', id)
  if (reference === undefined) return undefined
  const { target, original, of = null } = reference
  const asked = JSON.stringify([session.key, target, of, idKey(original)])
  const key = sha256OfByteText(toByteText(asked))
  return deps.table.claim(ANSWERED, key) ? reference : undefined
}

/** Scope of the shared table: digests of answered requests. */
const ANSWERED = 'mcp-answered'
