import type { JsonObject } from '#base/json.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { type Capability, readCapabilities } from '../message/capabilities.ts'
import { LATEST_SESSIONLESS } from '../message/protocol-version.ts'
import type { TargetReply } from '../message/target-reply.ts'

/** The result of initialising a target. */
export interface TargetSession {
  readonly target: string
  /** The target's own session id; undefined if it sent none. */
  readonly sessionId: string | undefined
  readonly version: string
  /** Label of the replica that has the session; undefined: the target has no replicas. */
  readonly endpoint: string | undefined
  readonly capabilities: ReadonlySet<Capability>
}

/** A session id of the gateway contains those of all targets, and clients read only so much of a head. In characters. */
const MAX_SESSION_ID = 1024

/** Why a target cannot take part in a session although it has responded, for operators. */
export const UNFIT = 'named no revision of the protocol, or its session id is too long or not ASCII'

/** @returns undefined: the result names no revision of the protocol, so later requests could not name it either, or it has no valid session id */
export function readTargetSession(
  { name, hasReplicas }: McpTargetPlan,
  result: JsonObject | undefined,
  {
    sessionId,
    endpoint,
    isModern,
  }: Pick<Extract<TargetReply, { kind: 'messages' }>, 'sessionId' | 'endpoint' | 'isModern'>,
): TargetSession | undefined {
  const version = result?.protocolVersion
  const capabilities = readCapabilities(result?.capabilities)
  if (isModern === true) {
    return { target: name, sessionId: undefined, version: LATEST_SESSIONLESS, endpoint: undefined, capabilities }
  }
  if (typeof version !== 'string' || !/^[\w.-]{1,32}$/.test(version)) return undefined
  if (sessionId !== undefined && (sessionId.length > MAX_SESSION_ID || !/^[ -~]+$/.test(sessionId))) return undefined
  return {
    target: name,
    sessionId,
    version,
    endpoint: hasReplicas && sessionId !== undefined ? endpoint : undefined,
    capabilities,
  }
}
