import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { ResponseFormatJSONObject, ResponseFormatJSONSchema } from 'openai/resources/shared'
import type { Steps } from '#base/in-slices.ts'
import { asIs } from '../json/write-json.ts'
import type { Conversation, OutputFormat } from '../translation/conversation.ts'
import type { Target } from '../translation/dialect.ts'
import { Loops } from '../translation/loops.ts'
import type { Losses } from '../translation/losses.ts'
import { type TargetModel, targetModel } from './target-model.ts'
import { writeEffort } from './write-effort.ts'
import { writeSampling, writeStop } from './write-sampling.ts'
import { writeToolMembers } from './write-tools.ts'
import { writeMessages } from './write-turns.ts'

/** A longer name of the end user is refused. */
const MAX_USER = 64

/** A schema must have a name here. */
const SCHEMA_NAME = 'structured_output'

/** Writes a request of the chat completions API. */
export function* writeRequest(conversation: Conversation, { names }: Target, losses: Losses): Steps<object> {
  const loops = new Loops()
  const { model, streamed, serviceTier } = conversation
  const user = writeUser(conversation, losses)
  const target = targetModel(model)
  const effort = writeEffort(conversation, target, losses)
  const messages = writeMessages(conversation, { names, target, loops, losses })
  const tools = writeToolMembers(conversation, names, loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  return {
    model,
    messages,
    ...(streamed && { stream: true as const, stream_options: { include_usage: true } }),
    ...tools,
    ...writeLimit(conversation, target),
    ...writeSampling(conversation, target, effort, losses),
    ...writeStop(conversation, target, losses),
    ...(conversation.format !== undefined && { response_format: writeFormat(conversation.format) }),
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

function writeLimit({ maxTokens }: Conversation, { refusesOldLimit }: TargetModel) {
  if (maxTokens === undefined) return {}
  return refusesOldLimit ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }
}

function writeFormat(format: OutputFormat): ResponseFormatJSONObject | ResponseFormatJSONSchema {
  if (format.kind === 'json') return { type: 'json_object' }
  const { schema, name = SCHEMA_NAME, description, strict } = format
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description !== undefined && { description: asIs<string>(description) }),
      schema: asIs<Record<string, unknown>>(schema),
      ...(strict !== undefined && { strict }),
    },
  }
}
