import type {
  MessageCreateParamsBase,
  OutputConfig,
  TextBlockParam,
  ThinkingConfigParam,
} from '@anthropic-ai/sdk/resources/messages/messages'
import type { Conversation } from '../conversation.ts'
import type { Target } from '../dialect.ts'
import { type Thinking, thinkingFor, withoutThinking } from '../efforts.ts'
import { asIs } from '../json/write-json.ts'
import type { Losses } from '../losses.ts'
import { type ModelFacts, modelOf } from '../models.ts'
import { isBlank } from './json-strings.ts'
import { type WrittenSampling, writeSampling } from './write-sampling.ts'
import { isForced, writeToolChoice, writeTools } from './write-tools.ts'
import { TurnsWriter } from './write-turns.ts'

type MessagesRequest = MessageCreateParamsBase & WrittenSampling

/** The API requires a limit (decision B27). */
const DEFAULT_MAX_TOKENS = 4096

/** The API takes only schemas that name all members, so any JSON object must be asked for in words. */
const JSON_ONLY: TextBlockParam = { type: 'text', text: 'Answer with one JSON object and nothing else.' }

/** Writes a request of the messages API. */
export function writeRequest(conversation: Conversation, { names }: Target, losses: Losses): object {
  const facts = modelOf(conversation.model)
  const maxTokens = conversation.maxTokens ?? DEFAULT_MAX_TOKENS
  const turns = new TurnsWriter(conversation.turns, names, losses)
  const thinking = writeThinking(conversation, facts, maxTokens, turns.lacksThought, losses)
  const isThinking = thinking.kind === 'budget' || thinking.kind === 'adaptive'
  const system = conversation.format?.kind === 'json' ? [...turns.system, JSON_ONLY] : turns.system
  const tools = writeTools(conversation, names, losses)
  const toolChoice = writeToolChoice(conversation, facts, names, losses)
  const stop = writeStop(conversation, losses)
  const tier = writeTier(conversation, losses)
  const output = writeOutput(conversation, thinking)
  return {
    model: conversation.model,
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages: turns.messages(facts.continuesTurn && !isThinking),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    ...(thinking.kind !== undefined && { thinking: configOf(thinking, conversation) }),
    ...(output !== undefined && { output_config: output }),
    ...writeSampling(conversation.sampling, facts, isThinking, losses),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(conversation.user !== undefined && { metadata: { user_id: asIs<string>(conversation.user.json) } }),
    ...(tier !== undefined && { service_tier: tier }),
    ...(conversation.streamed && { stream: true }),
  } satisfies MessagesRequest
}

function writeThinking(
  conversation: Conversation,
  facts: ModelFacts,
  maxTokens: number,
  lacksThought: boolean,
  losses: Losses,
): Thinking {
  const isForbidden = isForced(conversation, facts) || (lacksThought && facts.thinking === 'budget')
  const { reasoning } = conversation
  const thinking = thinkingFor(reasoning, facts, maxTokens, isForbidden)
  if (thinking !== undefined) return thinking
  if (reasoning !== undefined) losses.drop(reasoning.origin, 'the model cannot think in this request')
  return withoutThinking(facts)
}

function configOf({ kind, budget = 0 }: Thinking, { reasoning }: Conversation): ThinkingConfigParam {
  const display = reasoning?.summary === true ? ({ display: 'summarized' } as const) : {}
  switch (kind) {
    case 'budget':
      return { type: 'enabled', budget_tokens: budget, ...display }
    case 'adaptive':
      return { type: 'adaptive', ...display }
    case 'between_tools':
      return { type: kind }
    default:
      return { type: 'disabled' }
  }
}

function writeOutput({ format }: Conversation, { effort }: Thinking): OutputConfig | undefined {
  const schema = format?.kind === 'schema' ? asIs<Record<string, unknown>>(format.schema) : undefined
  // The API has no lower effort.
  const written = effort === 'none' || effort === 'minimal' ? 'low' : effort
  if (schema === undefined && written === undefined) return undefined
  return {
    ...(written !== undefined && { effort: written }),
    ...(schema !== undefined && { format: { type: 'json_schema', schema } }),
  }
}

function writeStop({ stop }: Conversation, losses: Losses): string[] {
  const written: string[] = []
  for (const sequence of stop) {
    if (isBlank(sequence.json)) losses.drop(sequence, 'only white space')
    else written.push(asIs<string>(sequence.json))
  }
  return written
}

function writeTier({ serviceTier }: Conversation, losses: Losses): MessagesRequest['service_tier'] {
  if (serviceTier === undefined) return undefined
  if (serviceTier.name === 'auto') return 'auto'
  if (serviceTier.name === 'default') return 'standard_only'
  losses.drop(serviceTier.origin)
  return undefined
}
