import { RE2JS } from 're2js'
import {
  backendObjectReference,
  type ConfigProblem,
  defaulted,
  enumOf,
  exactlyOne,
  formattedText,
  integer,
  list,
  notEmpty,
  object,
  optional,
  type Parsed,
  problem,
  required,
  type ScalarRefusal,
  shortString,
  text,
  withRule,
} from '#schema/index.ts'
import { backendSimple } from '../../shared/backend-simple.ts'
import { httpHeaderMatch } from '../../shared/header-filter.ts'

/** A guard that cannot match anything must not be stored (decision B57). */
function checkPattern(value: string): ScalarRefusal | undefined {
  try {
    RE2JS.compile(value)
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { code: 'invalid-pattern', message: `must be a regular expression of RE2 syntax: ${reason}` }
  }
}

interface Matchers {
  readonly matches?: readonly string[]
  readonly builtins?: readonly string[]
}

function checkMatchesSomething({ matches = [], builtins = [] }: Matchers, path: string): readonly ConfigProblem[] {
  if (matches.length + builtins.length > 0) return []
  return [problem(path, 'at-least-one-of', 'at least one pattern in matches or builtins must be given')]
}

const regex = withRule(
  object({
    matches: optional(list(formattedText({ min: 1, max: 1024 }, checkPattern)), 'Regular expressions (RE2 syntax).'),
    builtins: optional(
      list(enumOf('Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin')),
      'Patterns that come with the gateway.',
    ),
    action: defaulted(
      enumOf('Mask', 'Reject'),
      'Mask',
      'What happens to a request that matches: the match is replaced, or the request is refused. Answers are always masked.',
    ),
  }),
  { reads: ['matches', 'builtins'], description: 'There is something to match.', check: checkMatchesSomething },
)

const webhook = object({
  backendRef: required(backendObjectReference(), 'The guard server: a Service or a ProxyBackend.'),
  forwardHeaderMatches: optional(
    list(httpHeaderMatch),
    'Headers passed on to the server: of the request for requests, of the response for responses. None when unset.',
  ),
})

const policies = optional(backendSimple, 'Settings of the connection to the service.')

const moderationEndpoint = object({
  model: optional(text(), 'Moderation model to ask.'),
  policies,
})

const guardrailsServiceOne = object({
  identifier: required(shortString(), 'Identifier of the guardrail.'),
  version: required(shortString(), 'Version of the guardrail.'),
  region: required(shortString(), 'Region of the service.'),
  policies,
})

/** The location becomes part of a hostname (decision B56). */
function checkLocation(value: string): ScalarRefusal | undefined {
  if (/^[A-Za-z0-9-]+$/.test(value)) return undefined
  return { code: 'invalid-region', message: 'must consist of letters, digits and hyphens' }
}

const guardrailsServiceTwo = object({
  templateId: required(shortString(), 'Template that says what is checked.'),
  projectId: required(shortString(), 'Project of the template.'),
  location: defaulted(formattedText({ min: 1, max: 256 }, checkLocation), 'us-central1', 'Location of the service.'),
  policies,
})

const customResponse = notEmpty(
  object({
    message: optional(text(), 'Body of the refusal; a standard sentence when unset.'),
    statusCode: optional(integer({ min: 200, max: 599 }), 'Status of the refusal; 403 when unset.'),
  }),
)

const guards = {
  regex: optional(regex, 'Regular expressions.'),
  webhook: optional(webhook, 'A server of your own.'),
  guardrailsServiceOne: optional(guardrailsServiceOne, 'Guardrails service one.'),
  guardrailsServiceTwo: optional(guardrailsServiceTwo, 'Guardrails service two.'),
}
const response = optional(customResponse, 'What a refused caller gets.')

const promptGuardRequest = exactlyOne(
  ['regex', 'webhook', 'moderationEndpoint', 'guardrailsServiceOne', 'guardrailsServiceTwo'],
  object({
    ...guards,
    moderationEndpoint: optional(moderationEndpoint, 'The moderation endpoint of provider one.'),
    response,
  }),
)

const promptGuardResponse = exactlyOne(
  ['regex', 'webhook', 'guardrailsServiceOne', 'guardrailsServiceTwo'],
  object({ ...guards, response }),
)

/** `backend.ai.promptGuard` (specification 2, 2.5). */
export const promptGuard = notEmpty(
  object({
    request: optional(list(promptGuardRequest, { min: 1, max: 8 }), 'Checks on requests, in order.'),
    response: optional(list(promptGuardResponse, { min: 1, max: 8 }), 'Checks on answers, in order.'),
  }),
)

export type RegexGuardSpec = Parsed<typeof regex>
export type WebhookGuardSpec = Parsed<typeof webhook>
export type CustomResponseSpec = Parsed<typeof customResponse>
export type PromptGuardRequestSpec = Parsed<typeof promptGuardRequest>
export type PromptGuardResponseSpec = Parsed<typeof promptGuardResponse>
export type PromptGuardSpec = Parsed<typeof promptGuard>
