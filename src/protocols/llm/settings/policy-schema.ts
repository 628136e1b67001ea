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
import { promptGuard } from './guard-schema.ts'

const ROLES = ['system', 'developer', 'user', 'assistant']

/** In any case. */
const ROLE = new RegExp(
  `^(${ROLES.map((role) => role.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`)).join('|')})$`,
)

function checkRole(value: string): ScalarRefusal | undefined {
  if (ROLE.test(value)) return undefined
  return { code: 'unknown-value', message: `must be one of ${ROLES.join(', ')}, in any case` }
}

const message = object({
  role: required(
    formattedText({ pattern: ROLE }, checkRole),
    'Role of the message: system, developer, user or assistant.',
  ),
  content: required(text(), 'Text of the message.'),
})

const promptEnrichment = object({
  prepend: optional(list(message), "Messages inserted before the client's messages."),
  append: optional(list(message), "Messages appended after the client's messages."),
})

const fieldDefault = object({
  field: required(shortString(), 'A key of the JSON body of the request.'),
  value: required(json(), 'Value of the key, of any JSON type.'),
})

const fieldTransformation = object({
  field: required(shortString(), 'A key of the JSON body of the request.'),
  expression: required(
    celExpression(),
    'CEL expression for the value of the key. If evaluation fails, the key is removed.',
  ),
})

const promptCaching = object({
  cacheSystem: defaulted(boolean(), true, 'Whether to insert a cache point after the system messages.'),
  cacheMessages: defaulted(boolean(), true, 'Whether to insert a cache point among the messages of the conversation.'),
  cacheTools: defaulted(boolean(), false, 'Whether to insert a cache point after the tool definitions.'),
  minTokens: defaulted(
    integer({ min: 0 }),
    1024,
    'Minimum estimated number of tokens. Shorter prompts get no cache points.',
  ),
  cacheMessageOffset: defaulted(
    integer({ min: 0 }),
    0,
    'Moves the cache point of the conversation this many messages earlier than the second-to-last message.',
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
  'Policies for LLM backends.',
  notEmpty(
    object({
      prompt: optional(promptEnrichment, 'Messages added to every request.'),
      promptGuard: optional(promptGuard, 'Prompt guards, which mask or reject texts of requests and responses.'),
      defaults: optional(
        listMap('field', fieldDefault, { min: 1, max: 64 }),
        'Fields added to the request body when the client has not set them.',
      ),
      overrides: optional(
        listMap('field', fieldDefault, { min: 1, max: 64 }),
        'Fields set in the request body. They replace values from the client.',
      ),
      transformations: optional(
        listMap('field', fieldTransformation, { min: 1, max: 64 }),
        'Fields of the request body computed by CEL expressions. A transformation takes precedence over an override of the same field.',
      ),
      modelAliases: optional(
        mapOf(text({ min: 1 }), { max: 64 }),
        'Maps a model alias to the model name of the provider.',
      ),
      promptCaching: optional(
        promptCaching,
        'Cache points inserted automatically, for providers that require explicit ones.',
      ),
      routes: optional(
        mapOf(routeType),
        'Maps the suffix of the request path to the type of LLM API. "*" matches any path. When unset, every request is Completions.',
      ),
    }),
  ),
)

export type PromptMessageSpec = Parsed<typeof message>
export type PromptEnrichmentSpec = Parsed<typeof promptEnrichment>
export type FieldValueSpec = Parsed<typeof fieldDefault>
export type RouteType = Parsed<typeof routeType>
export type BackendAiSpec = Parsed<typeof backendAi>
