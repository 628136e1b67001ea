import { clock } from '#base/clock.ts'
import type { JsonObject } from '#base/json.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import { GATEWAY_INFO } from '../gateway-info.ts'
import { type McpRequest, targetsOf } from '../mcp-request.ts'
import { isObject, type RequestMessage, resultText } from '../message/json-rpc.ts'
import { sessionlessCapabilities, uniteCapabilities } from '../session/capabilities.ts'
import { prepareClose } from '../session/close-targets.ts'
import { initialiseTargets } from '../session/initialise-targets.ts'
import { offeredRevision } from '../session/protocol-version.ts'
import { type Session, sealSession } from '../session/session-state.ts'
import type { TargetOutcome } from '../target/fan-out.ts'
import { answerMessages } from './mcp-answer.ts'

/** Initialises all targets and responds with their combined capabilities. The response has the id of the new session. */
export async function answerInitialize(request: McpRequest, message: RequestMessage): Promise<ServedAnswer> {
  const { plan, exchange, deps } = request
  const sessionKey = crypto.randomUUID()
  const text = initializeText(request.plan.multiplexes, message)
  const reply = await initialiseTargets(request, { id: message.id, text, targets: plan.targets, sessionKey })
  if (reply.kind === 'failed') return reply.answer

  const merged = plan.multiplexes ? mergeResults(reply.outcomes, wishedRevision(message)) : soleResult(reply.outcomes)
  const result = plan.sessionRouting === 'Stateless' ? withoutSessions(merged) : merged
  const answer = prepend(reply.events, answerMessages([resultText(message.id, result)]))
  const session: Session = { id: '', key: sessionKey, createdMs: clock.now(), targets: reply.sessions }
  if (plan.sessionRouting === 'Stateless') {
    void prepareClose(request, targetsOf(plan, session))()
    return answer
  }
  const { id } = sealSession(deps.sealer, { backend: plan.backend, identity: exchange.identity }, session)
  if (exchange.mcp !== undefined) exchange.mcp.sessionId = id
  return { ...answer, headers: [...answer.headers, ['mcp-session-id', id]] }
}

/**
 * The client's `initialize` request in the form for targets. It declares the client's capabilities (sampling, elicitation, roots), since
 * requests of targets are routed back to the client. With several targets tasks are not routed, so they are not declared.
 */
export function initializeText(multiplexes: boolean, message: RequestMessage): string {
  const { params } = message
  const wish = params?.protocolVersion
  const offered = wishedRevision(message)
  const capabilities = params?.capabilities
  const hidesTasks = multiplexes && isObject(capabilities) && capabilities.tasks !== undefined
  if (offered === wish && !hidesTasks) return message.text
  const changes = { protocolVersion: offered, ...(hidesTasks && { capabilities: without('tasks', capabilities) }) }
  return JSON.stringify({ ...message.json, params: { ...params, ...changes } })
}

function wishedRevision({ params }: RequestMessage): string {
  const version = params?.protocolVersion
  return offeredRevision(typeof version === 'string' ? version : undefined)
}

/** The result of a single target, without tasks: their methods are not supported. */
function soleResult(outcomes: readonly TargetOutcome[]): JsonObject {
  const result = outcomes[0]?.result ?? {}
  const { capabilities } = result
  if (!isObject(capabilities) || capabilities.tasks === undefined) return result
  return { ...result, capabilities: without('tasks', capabilities) }
}

function withoutSessions(result: JsonObject): JsonObject {
  const { capabilities } = result
  return isObject(capabilities) ? { ...result, capabilities: sessionlessCapabilities(capabilities) } : result
}

/** The lowest revision, all capabilities that are routed, and the instructions of each target. */
function mergeResults(outcomes: readonly TargetOutcome[], wish: string): JsonObject {
  const results = outcomes.map(({ result }) => result ?? {})
  const revisions = results
    .map(({ protocolVersion }) => protocolVersion)
    .filter((version) => typeof version === 'string')
  return {
    protocolVersion: [wish, ...revisions].sort()[0]!,
    capabilities: uniteCapabilities(results.map(({ capabilities }) => capabilities)),
    serverInfo: GATEWAY_INFO,
    instructions: mergeInstructions(outcomes),
  }
}

function mergeInstructions(outcomes: readonly TargetOutcome[]): string {
  const parts = [PREAMBLE]
  for (const { open, result } of outcomes) {
    const instructions = result?.instructions
    if (typeof instructions === 'string' && instructions !== '') {
      parts.push(`[${open.target.plan.name}]\n${instructions}`)
    }
  }
  return parts.join('\n\n')
}

const PREAMBLE =
  'This gateway combines several MCP servers. Names of tools and prompts begin with the name of their server and an ' +
  'underscore, resource URIs with the name of their server and a plus sign.'

function without(member: string, object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== member))
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
