import { clock } from '#base/clock.ts'
import { parseExactJson } from '#base/exact-json.ts'
import type { Json, JsonObject } from '#base/json.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import type { TargetOutcome } from '../calls/fan-out.ts'
import { initialiseTargets } from '../calls/initialise-targets.ts'
import { GATEWAY_INFO } from '../config/gateway-info.ts'
import { sessionlessCapabilities, uniteCapabilities } from '../message/capabilities.ts'
import { isObject, type RequestMessage, resultText } from '../message/json-rpc.ts'
import { isSessionRevision, LATEST_REVISION, offeredRevision } from '../message/protocol-version.ts'
import { answerMessages } from '../request/mcp-answer.ts'
import { type McpRequest, targetsOf } from '../request/mcp-request.ts'
import { bareTargetOf } from '../session/session-naming.ts'
import { type ClientDeclaration, type Session, sealSession } from '../session/session-state.ts'
import { noteUse } from '../session/session-use.ts'
import { prepareClose } from '../transport/close-targets.ts'
import { mergeInstructions } from './merge-instructions.ts'

/** Initialises all targets and responds with their combined capabilities. The response has the id of the new session. */
export async function answerInitialize(request: McpRequest, message: RequestMessage): Promise<ServedAnswer> {
  const { plan, exchange, deps } = request
  const sessionKey = crypto.randomUUID()
  const text = initializeText(message)
  const reply = await initialiseTargets(request, { id: message.id, text, targets: plan.targets, sessionKey })
  if (reply.kind === 'failed') return reply.answer

  const merged = plan.multiplexes
    ? mergeResults(reply.outcomes, wishedRevision(message))
    : (reply.outcomes[0]?.result ?? {})
  const result = plan.sessionRouting === 'Stateless' ? withoutSessions(merged) : merged
  const answer = prepend(reply.events, answerMessages([resultText(message.id, result)]))
  const session: Session = {
    key: sessionKey,
    createdMs: clock.now(),
    targets: reply.sessions,
    client: readDeclaration(text),
    bareTarget: bareTargetOf(plan),
  }
  if (plan.sessionRouting === 'Stateless') {
    void prepareClose(request, targetsOf(request, session))()
    return answer
  }
  noteUse(session, deps.table, session.createdMs)
  const id = sealSession(deps.sealer, { backend: plan.backend, identity: exchange.identity }, session)
  if (exchange.mcp !== undefined) exchange.mcp.sessionId = id
  deps.memory.activities.begin(request, session, id)
  return { ...answer, headers: [...answer.headers, ['mcp-session-id', id]] }
}

/**
 * The client's `initialize` request in the form for targets. It declares the client's capabilities (sampling, elicitation, roots), since
 * requests of targets are routed back to the client.
 */
export function initializeText({ params, json, text }: RequestMessage): string {
  const offered = wishedRevision({ params })
  if (offered === params?.protocolVersion) return text
  return JSON.stringify({ ...json, params: { ...params, protocolVersion: offered } })
}

/** A session id is a header field, so what it contains is bounded: what does not fit is not declared again. */
const MAX_DECLARATION = 4096

function readDeclaration(text: string): ClientDeclaration {
  const { params } = parseExactJson(text) as { readonly params?: JsonObject }
  const { protocolVersion, capabilities, clientInfo } = params ?? {}
  const declaration = {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : LATEST_REVISION,
    capabilities: isObject(capabilities) ? capabilities : {},
    clientInfo: isObject(clientInfo) ? clientInfo : GATEWAY_INFO,
  }
  if (JSON.stringify(declaration).length <= MAX_DECLARATION) return declaration
  const { sampling, elicitation, roots } = declaration.capabilities
  const known = { sampling, elicitation, roots }
  const isSmall = JSON.stringify(known).length <= MAX_DECLARATION
  return { ...declaration, capabilities: isSmall ? definedOf(known) : {}, clientInfo: GATEWAY_INFO }
}

function definedOf(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

function wishedRevision({ params }: Pick<RequestMessage, 'params'>): string {
  const version = params?.protocolVersion
  return offeredRevision(typeof version === 'string' ? version : undefined)
}

function withoutSessions(result: JsonObject): JsonObject {
  const { capabilities } = result
  return isObject(capabilities) ? { ...result, capabilities: sessionlessCapabilities(capabilities) } : result
}

/** The lowest revision that the gateway supports, all capabilities that are routed, and the instructions of each target. */
function mergeResults(outcomes: readonly TargetOutcome[], wish: string): JsonObject {
  const results = outcomes.map(({ result }) => result ?? {})
  const revisions = results
    .map(({ protocolVersion }) => protocolVersion)
    .filter((version) => typeof version === 'string' && isSessionRevision(version))
  return {
    protocolVersion: [wish, ...revisions].sort()[0]!,
    capabilities: uniteCapabilities(results.map(({ capabilities }) => capabilities)),
    serverInfo: GATEWAY_INFO,
    instructions: mergeInstructions(outcomes.map(({ open, result }) => ({ name: open.target.plan.name, result }))),
  }
}

function prepend(events: readonly Uint8Array[], answer: ServedAnswer): ServedAnswer {
  if (events.length === 0 || !(answer.body instanceof Uint8Array)) return answer
  const parts = [...events, answer.body]
  const body = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    body.set(part, at)
    at += part.length
  }
  return { ...answer, body }
}
