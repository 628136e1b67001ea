import type {
  MessageCreateParamsBase,
  OutputConfig,
  TextBlockParam,
} from '@anthropic-ai/sdk/resources/messages/messages'
import type { Steps } from '#base/in-slices.ts'
import { asIs } from '../json/write-json.ts'
import { modelOf } from '../models/models.ts'
import { ArrangedTurns } from '../translation/arranged-turns.ts'
import type { Conversation } from '../translation/conversation.ts'
import type { Target } from '../translation/dialect.ts'
import { JSON_ONLY } from '../translation/json-only.ts'
import { Loops } from '../translation/loops.ts'
import type { Losses } from '../translation/losses.ts'
import { acceptedSampling, acceptedStops } from '../translation/sampling.ts'
import { writeText } from './write-parts.ts'
import { type WrittenThinking, writeThinking } from './write-thinking.ts'
import { writeToolChoice, writeTools } from './write-tools.ts'
import { writeTurns } from './write-turns.ts'

/** The published types leave sampling out, because newer models refuse it. */
type MessagesRequest = MessageCreateParamsBase & { temperature?: number; top_p?: number; top_k?: number }

/** The API requires a limit (decision B27). */
const DEFAULT_MAX_TOKENS = 4096

/** Writes a request of the messages API. */
export function* writeRequest(conversation: Conversation, { names }: Target, losses: Losses): Steps<object> {
  const loops = new Loops()
  const facts = modelOf(conversation.model)
  const maxTokens = conversation.maxTokens ?? DEFAULT_MAX_TOKENS
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
  const output = writeOutput(conversation, thinking)
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

function writeOutput({ format }: Conversation, { effort }: WrittenThinking): OutputConfig | undefined {
  const schema = format?.kind === 'schema' ? asIs<Record<string, unknown>>(format.schema) : undefined
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
