import type {
  ContentBlockParam,
  MessageCreateParamsBase,
  MessageParam,
  OutputConfig,
  TextBlockParam,
} from '@anthropic-ai/sdk/resources/messages/messages'
import type { Steps } from '#base/in-slices.ts'
import { type ArrangedTurn, ArrangedTurns } from '../../chat/arranged-turns.ts'
import { closedFormat } from '../../chat/closed-schemas.ts'
import type { Conversation, Part } from '../../chat/conversation.ts'
import type { Target } from '../../chat/dialect.ts'
import { wantedBudget } from '../../chat/efforts.ts'
import { JSON_ONLY } from '../../chat/json-schemas.ts'
import { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { acceptedSampling, acceptedStops } from '../../chat/sampling.ts'
import type { TargetNames } from '../../chat/target-names.ts'
import { asIs, type JsonText } from '../../json/write-json.ts'
import { type ModelFacts, modelOf } from '../../models/models.ts'
import { estimateRequest } from '../../tokens/estimate-request.ts'
import { writeCall, writeContent, writeResult, writeText } from './write-parts.ts'
import { type WrittenThinking, writeThinking } from './write-thinking.ts'
import { writeToolChoice, writeTools } from './write-tools.ts'

/** The published types leave sampling out, because newer models refuse it. */
type MessagesRequest = MessageCreateParamsBase & { temperature?: number; top_p?: number; top_k?: number }

/** Writes a request of the messages API. */
export function* writeRequest(conversation: Conversation, { names, body }: Target, losses: Losses): Steps<object> {
  const loops = new Loops()
  const facts = modelOf(conversation.model)
  const maxTokens = conversation.maxTokens ?? defaultLimit(conversation, facts, body)
  const turns = new ArrangedTurns(conversation.turns, loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  const thinking = writeThinking(conversation, facts, maxTokens, turns.lacksThought, losses)
  const system: TextBlockParam[] = []
  loops.each(turns.system, (text) => system.push(writeText(text)))
  const tools = writeTools(conversation, names, loops, losses)
  const stop = acceptedStops(conversation.stop, loops, losses)
  const messages = writeTurns(turns.list(facts.continuesTurn && !thinking.isThinking), names, loops)
  if (loops.areWaiting) yield* loops.rest()
  if (conversation.format?.kind === 'json') system.push({ type: 'text', text: JSON_ONLY })
  const toolChoice = writeToolChoice(conversation, facts, names, losses)
  const sampling = acceptedSampling(conversation.sampling, facts, thinking.isThinking, losses)
  const tier = writeTier(conversation, losses)
  const output = writeOutput(conversation, thinking, losses)
  // Assignments: spreading each member in takes more time than all the rest.
  const written: MessagesRequest = {
    model: conversation.model,
    max_tokens: maxTokens,
    messages,
  }
  if (system.length > 0) written.system = system
  if (tools.length > 0) written.tools = tools
  if (toolChoice !== undefined) written.tool_choice = toolChoice
  if (thinking.thinking !== undefined) written.thinking = thinking.thinking
  if (output !== undefined) written.output_config = output
  if (sampling.temperature !== undefined) written.temperature = sampling.temperature
  if (sampling.topP !== undefined) written.top_p = sampling.topP
  if (sampling.topK !== undefined) written.top_k = sampling.topK
  if (stop.length > 0) written.stop_sequences = stop
  if (conversation.user !== undefined) written.metadata = { user_id: asIs<string>(conversation.user.json) }
  if (tier !== undefined) written.service_tier = tier
  if (conversation.streamed) written.stream = true
  return written
}

function writeOutput({ format }: Conversation, { effort }: WrittenThinking, losses: Losses): OutputConfig | undefined {
  const schema = format?.kind === 'schema' ? closedFormat(format, losses) : undefined
  if (schema === undefined && effort === undefined) return undefined
  return {
    ...(effort !== undefined && { effort }),
    ...(schema !== undefined && { format: { type: 'json_schema', schema } }),
  }
}

function writeTier({ serviceTier }: Conversation, losses: Losses): MessagesRequest['service_tier'] {
  if (serviceTier === undefined) return undefined
  if (serviceTier.name === 'auto') return 'auto'
  if (serviceTier.name === 'default') return 'standard_only'
  losses.drop(serviceTier.origin)
  return undefined
}

/** In tokens. A larger limit counts against the rate limits of some accounts. */
const USUAL_LIMIT = 8192

/**
 * The limit of an answer for which the client sets none, in tokens: the API requires one (decision B27). It is higher only where the model may
 * think half of it.
 * @param body of the client
 */
function defaultLimit({ reasoning }: Conversation, facts: ModelFacts, body: Uint8Array): number {
  const thoughts = facts.thinking === 'budget' && reasoning !== undefined ? wantedBudget(reasoning) : 0
  const wanted = Math.min(Math.max(USUAL_LIMIT, 2 * thoughts), facts.maxOutputTokens ?? Number.POSITIVE_INFINITY)
  const { contextTokens } = facts
  // A token has at least one byte, so that most requests need no estimate.
  if (contextTokens === undefined || body.length <= contextTokens - wanted) return wanted
  return Math.max(1, Math.min(wanted, contextTokens - estimateRequest(body)))
}

/** @returns a list that is complete when all loops have run */
function writeTurns(turns: readonly ArrangedTurn[], names: TargetNames, loops: Loops): MessageParam[] {
  const messages: MessageParam[] = []
  loops.each(turns, ({ role, parts, added }) => {
    const content: ContentBlockParam[] = []
    messages.push({ role, content: added ?? content })
    loops.each(parts, (part) => content.push(writePart(part, names, loops)))
  })
  return messages
}

function writePart(part: Part, names: TargetNames, loops: Loops): ContentBlockParam {
  switch (part.kind) {
    case 'result':
      return writeResult(part, names, loops)
    case 'call':
      return writeCall(part, names)
    case 'thinking':
      return {
        type: 'thinking',
        thinking: asIs<string>(part.text),
        signature: asIs<string>(part.signature as JsonText),
      }
    case 'redacted':
      return { type: 'redacted_thinking', data: asIs<string>(part.data) }
    default:
      return writeContent(part)
  }
}
