import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { ResponseFormatJSONObject, ResponseFormatJSONSchema } from 'openai/resources/shared'
import type { Steps } from '#base/in-slices.ts'
import type { Conversation, OutputFormat, ReasoningWish, Sampled } from '../../chat/conversation.ts'
import type { Target } from '../../chat/dialect.ts'
import { acceptedEffort, effortOfBudget } from '../../chat/efforts.ts'
import { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { fitStrict } from '../../chat/strict-schemas.ts'
import { asIs } from '../../json/write-json.ts'
import type { Effort, ModelFacts, SamplingField } from '../../models/models.ts'
import { type TargetModel, targetModel } from './target-model.ts'
import { writeSearch, writeToolMembers } from './write-tools.ts'
import { writeMessages } from './write-turns.ts'

/** A longer name of the end user is refused. */
const MAX_USER = 64

/** A schema must have a name here. */
const SCHEMA_NAME = 'structured_output'

/** Writes a request of the chat completions API. */
export function* writeRequest(
  conversation: Conversation,
  { names, newLimit = false }: Target,
  losses: Losses,
): Steps<object> {
  const loops = new Loops()
  const { model, streamed, serviceTier } = conversation
  const user = writeUser(conversation, losses)
  const target = targetModel(model)
  const effort = writeEffort(conversation, target, losses)
  const messages = writeMessages(conversation, { names, target, loops, losses })
  const tools = writeToolMembers(conversation, names, loops, losses)
  const search = writeSearch(conversation, target, losses)
  if (loops.areWaiting) yield* loops.rest()
  return {
    model,
    messages,
    ...(streamed && { stream: true as const, stream_options: { include_usage: true } }),
    ...tools,
    ...(search !== undefined && { web_search_options: search }),
    ...writeLimit(conversation, target, newLimit),
    ...writeSampling(conversation, target, effort, losses),
    ...writeStop(conversation, target, losses),
    ...(conversation.format !== undefined && { response_format: writeFormat(conversation.format, losses) }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(user !== undefined && { user }),
    ...(serviceTier !== undefined && { service_tier: serviceTier.name as 'auto' }),
  } satisfies ChatCompletionCreateParams
}

function writeUser({ user }: Conversation, losses: Losses): string | undefined {
  if (user === undefined || user.text.length <= MAX_USER) return user?.text
  losses.drop(user, `longer than ${MAX_USER} characters`)
  return undefined
}

function writeLimit({ maxTokens }: Conversation, { refusesOldLimit, facts }: TargetModel, newLimit: boolean) {
  if (maxTokens === undefined) return {}
  return refusesOldLimit || (newLimit && facts.family === 'other')
    ? { max_completion_tokens: maxTokens }
    : { max_tokens: maxTokens }
}

function writeFormat(format: OutputFormat, losses: Losses): ResponseFormatJSONObject | ResponseFormatJSONSchema {
  if (format.kind === 'json') return { type: 'json_object' }
  const { name = SCHEMA_NAME, description } = format
  const fitted = format.strict === true ? fitStrict(format.schema, format.origin, losses) : undefined
  const strict = format.strict && fitted !== undefined
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description !== undefined && { description: asIs<string>(description) }),
      schema: fitted ?? asIs<Record<string, unknown>>(format.schema),
      ...(strict !== undefined && { strict }),
    },
  }
}

/** What a wish means that does not say how much. */
const USUAL: Effort = 'high'

/** The effort as the model accepts it. What it cannot do is a loss. */
function writeEffort(
  { reasoning, tools }: Conversation,
  { facts, thinksWithoutTools }: TargetModel,
  losses: Losses,
): Effort | undefined {
  if (thinksWithoutTools && tools.length > 0) {
    if (reasoning !== undefined && reasoning.effort !== 'none') {
      losses.drop(reasoning.origin, 'the model does not support thinking in chat completions with tools')
    }
    return 'none'
  }
  if (reasoning === undefined) return undefined
  const effort = effortOf(reasoning, facts)
  // A model that does not think unless asked to does what `none` asks for.
  if (effort === undefined || (effort === 'none' && !facts.alwaysThinks && !facts.efforts.includes('none')))
    return undefined
  const written = acceptedEffort(effort, facts.efforts)
  if (written === undefined) losses.drop(reasoning.origin)
  return written
}

/** Of a model without name, it is not known whether it accepts an effort: only one that the client names is written. */
function effortOf({ effort, budget }: ReasoningWish, { family }: ModelFacts): Effort | undefined {
  if (effort !== undefined) return effort === 'none' && family === 'other' ? undefined : effort
  if (family === 'other') return undefined
  return budget === undefined ? USUAL : effortOfBudget(budget)
}

/** More are refused. */
const MAX_STOPS = 4

type Sampling = { [Field in 'temperature' | 'top_p' | 'frequency_penalty' | 'presence_penalty' | 'seed']?: number }

function writeSampling(
  { sampling }: Conversation,
  target: TargetModel,
  effort: Effort | undefined,
  losses: Losses,
): Sampling {
  const refused = refusedFields(target, effort)
  const written: Sampling = {}
  const fields: readonly (readonly [keyof Sampling, Sampled | undefined])[] = [
    ['temperature', sampling.temperature],
    ['top_p', sampling.topP],
    ['frequency_penalty', sampling.frequencyPenalty],
    ['presence_penalty', sampling.presencePenalty],
    ['seed', sampling.seed],
  ]
  for (const [name, value] of fields) {
    if (value === undefined) continue
    if (refused.has(name)) losses.drop(value, 'the model does not accept it')
    else written[name] = asIs<number>(value.json)
  }
  if (sampling.topK !== undefined) losses.drop(sampling.topK)
  return written
}

function writeStop({ stop }: Conversation, { facts }: TargetModel, losses: Losses): { stop?: string[] } {
  const accepted = facts.refused.includes('stop') ? 0 : MAX_STOPS
  for (const each of stop.slice(accepted)) losses.drop(each)
  const written = stop.slice(0, accepted).map(({ json }) => asIs<string>(json))
  return written.length === 0 ? {} : { stop: written }
}

function refusedFields({ facts }: TargetModel, effort: Effort | undefined): ReadonlySet<string> {
  const thinks = effort !== undefined && effort !== 'none'
  const refused: readonly SamplingField[] = thinks ? [...facts.refused, ...facts.refusedWithThinking] : facts.refused
  return new Set<string>(refused)
}
