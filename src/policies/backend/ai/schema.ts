import {
  boolean,
  celExpression,
  defaulted,
  described,
  enumOf,
  formattedText,
  integer,
  json,
  list,
  listMap,
  mapOf,
  notEmpty,
  object,
  optional,
  type Parsed,
  required,
  type ScalarRefusal,
  shortString,
  text,
} from '#schema/index.ts'
import { promptGuard } from './prompt-guard-schema.ts'

const ROLES = ['system', 'developer', 'user', 'assistant']

function checkRole(value: string): ScalarRefusal | undefined {
  if (ROLES.includes(value.toLowerCase())) return undefined
  return { code: 'unknown-value', message: `must be one of ${ROLES.join(', ')}, in any case` }
}

const message = object({
  role: required(formattedText({}, checkRole), 'Role of the message: system, developer, user or assistant.'),
  content: required(text(), 'Text of the message.'),
})

const promptEnrichment = object({
  prepend: optional(list(message), 'Messages put before those of the client.'),
  append: optional(list(message), 'Messages put after those of the client.'),
})

const fieldDefault = object({
  field: required(shortString(), 'A key of the JSON body of the request.'),
  value: required(json(), 'Its value, of any JSON type.'),
})

const fieldTransformation = object({
  field: required(shortString(), 'A key of the JSON body of the request.'),
  expression: required(celExpression(), 'Its value. If it fails to evaluate, the key is removed.'),
})

const promptCaching = object({
  cacheSystem: defaulted(boolean(), true, 'Cache point after the system messages.'),
  cacheMessages: defaulted(boolean(), true, 'Cache point among the messages of the conversation.'),
  cacheTools: defaulted(boolean(), false, 'Cache point after the tool specifications.'),
  minTokens: defaulted(integer({ min: 0 }), 1024, 'Estimated tokens below which nothing is cached.'),
  cacheMessageOffset: defaulted(
    integer({ min: 0 }),
    0,
    'How many messages before the second-to-last one the cache point of the conversation lies.',
  ),
})

const routeType = enumOf(
  'Completions',
  'Messages',
  'Models',
  'Passthrough',
  'Detect',
  'Responses',
  'MessagesTokenCount',
  'Embeddings',
  'Realtime',
)

/** `backend.ai` (specification 2, 2.4). */
export const backendAi = described(
  'Settings for LLM backends.',
  notEmpty(
    object({
      prompt: optional(promptEnrichment, 'Messages added to every request.'),
      promptGuard: optional(promptGuard, 'Checks on prompts and answers.'),
      defaults: optional(
        listMap('field', fieldDefault, { min: 1, max: 64 }),
        'Fields put into the body of a request where the client has not set them.',
      ),
      overrides: optional(
        listMap('field', fieldDefault, { min: 1, max: 64 }),
        'Fields put into the body of a request whatever the client has set.',
      ),
      transformations: optional(
        listMap('field', fieldTransformation, { min: 1, max: 64 }),
        'Fields of the body computed by expressions; stronger than overrides for the same field.',
      ),
      modelAliases: optional(
        mapOf(text({ min: 1 }), { max: 64 }),
        'Model names of your own and the provider names they stand for.',
      ),
      promptCaching: optional(
        promptCaching,
        'Cache points inserted automatically, for providers that need them marked.',
      ),
      routes: optional(
        mapOf(routeType),
        'Which kind of API a request speaks, by the end of its path; "*" is any path. Everything is Completions when unset.',
      ),
    }),
  ),
)

export type PromptEnrichmentSpec = Parsed<typeof promptEnrichment>
export type PromptCachingSpec = Parsed<typeof promptCaching>
export type RouteType = Parsed<typeof routeType>
export type BackendAiSpec = Parsed<typeof backendAi>
export type { PromptGuardRequestSpec, PromptGuardResponseSpec, PromptGuardSpec } from './prompt-guard-schema.ts'
