import { describeSizeFault } from '#base/pattern/program.ts'
import { compilePattern } from '#base/pattern.ts'
import { meaningsOf, PRODUCTS } from '#base/products.ts'
import { backendSimple } from '#policies/shared/connection/backend-simple.ts'
import { httpHeaderMatch } from '#policies/shared/fields/header-filter.ts'
import {
  backendObjectReference,
  type ConfigProblem,
  defaulted,
  destination,
  enumOf,
  exactlyOne,
  formattedText,
  integer,
  list,
  notEmpty,
  object,
  optional,
  type Parsed,
  patternText,
  problem,
  required,
  type ScalarRefusal,
  shortString,
  text,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import type { GuardServiceSpec } from './service-spec.ts'

interface Matchers {
  readonly matches?: readonly string[]
  readonly builtins?: readonly string[]
}

function checkMatchers({ matches = [], builtins = [] }: Matchers, path: string): readonly ConfigProblem[] {
  if (matches.length + builtins.length === 0) {
    return [problem(path, 'at-least-one-of', 'matches and builtins are both empty; set at least one pattern')]
  }
  return matches.flatMap((source, index) => {
    const pattern = compilePattern(source)
    const fault = pattern === undefined ? undefined : describeSizeFault(pattern)
    return fault === undefined ? [] : [problem(`${path}.matches[${index}]`, 'invalid-pattern', fault)]
  })
}

const regex = withRule(
  object({
    // A guard that can never match must be refused (decision B57).
    matches: optional(list(patternText({ min: 1, max: 1024 })), 'Regular expressions (RE2 syntax).'),
    builtins: optional(list(enumOf('Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin')), 'Built-in patterns.'),
    action: defaulted(
      enumOf('Mask', 'Reject'),
      'Mask',
      'Action on a request that matches. Mask replaces the match; Reject refuses the request. Responses are always masked.',
    ),
  }),
  {
    reads: ['matches', 'builtins'],
    description: 'At least one pattern in matches or builtins is required.',
    check: checkMatchers,
    onServer: 'has(self.matches) && self.matches.size() > 0 || has(self.builtins) && self.builtins.size() > 0',
  },
)

const webhook = object({
  backendRef: required(backendObjectReference(), 'Service or ProxyBackend of the guard server.'),
  forwardHeaderMatches: optional(
    list(httpHeaderMatch),
    'Headers to forward to the guard server, taken from the message that it checks. When unset, none.',
  ),
})

function serviceBackend(spec: GuardServiceSpec) {
  return { type: 'guardService', spec }
}

const policies = optional(backendSimple, 'Backend policies for requests to the service.')

const moderationEndpoint = destination(object({ model: optional(text(), 'Moderation model.'), policies }), () =>
  serviceBackend({ service: 'moderationEndpoint' }),
)

const LOCATION = /^[A-Za-z0-9-]+$/

/** Region and location become parts of hostnames (decision B56). */
function checkLocation(value: string): ScalarRefusal | undefined {
  if (LOCATION.test(value)) return undefined
  return { code: 'invalid-region', message: 'must consist of letters, digits and hyphens' }
}

const guardrailsServiceOne = destination(
  object({
    identifier: required(shortString(), 'Identifier of the guardrail.'),
    version: required(shortString(), 'Version of the guardrail.'),
    region: required(formattedText({ min: 1, max: 256, pattern: LOCATION }, checkLocation), 'Region of the service.'),
    policies,
  }),
  ({ region }: { readonly region: string }) => serviceBackend({ service: 'guardrailsServiceOne', region }),
)

const guardrailsServiceTwo = destination(
  object({
    templateId: required(shortString(), 'Template that defines the checks.'),
    projectId: required(shortString(), 'Project of the template.'),
    location: defaulted(
      formattedText({ min: 1, max: 256, pattern: LOCATION }, checkLocation),
      'us-central1',
      'Location of the service.',
    ),
    policies,
  }),
  ({ location }: { readonly location: string }) => serviceBackend({ service: 'guardrailsServiceTwo', location }),
)

const customResponse = notEmpty(
  object({
    message: optional(text(), 'Body of the response if the guard rejects. When unset, a default text.'),
    statusCode: optional(
      integer({ min: 200, max: 599 }),
      'Status code of the response if the guard rejects. When unset, 403.',
    ),
  }),
)

const SERVICES = ['guardrailsServiceOne', 'guardrailsServiceTwo'] as const

const guards = {
  regex: optional(regex, 'Regular expressions.'),
  webhook: optional(webhook, 'A custom guard server.'),
  guardrailsServiceOne: optional(guardrailsServiceOne, `${PRODUCTS.guardrailsServiceOne}.`),
  guardrailsServiceTwo: optional(guardrailsServiceTwo, `${PRODUCTS.guardrailsServiceTwo}.`),
}
const response = optional(customResponse, 'Response if the guard rejects.')

const promptGuardRequest = withMeanings(
  meaningsOf(['moderationEndpoint', ...SERVICES]),
  exactlyOne(
    ['regex', 'webhook', 'moderationEndpoint', 'guardrailsServiceOne', 'guardrailsServiceTwo'],
    object({
      ...guards,
      moderationEndpoint: optional(moderationEndpoint, `The moderation endpoint of ${PRODUCTS.providerOne}.`),
      response,
    }),
  ),
)

const promptGuardResponse = withMeanings(
  {
    ...meaningsOf(SERVICES),
    moderationendpoint: `${PRODUCTS.moderationEndpoint} checks only requests; write it below "request"`,
  },
  exactlyOne(['regex', 'webhook', 'guardrailsServiceOne', 'guardrailsServiceTwo'], object({ ...guards, response })),
)

/** `backend.ai.promptGuard` (specification 2, 2.5). */
export const promptGuard = notEmpty(
  object({
    request: optional(list(promptGuardRequest, { min: 1, max: 8 }), 'Guards for requests, in order.'),
    response: optional(list(promptGuardResponse, { min: 1, max: 8 }), 'Guards for responses, in order.'),
  }),
)

export type RegexGuardSpec = Parsed<typeof regex>
export type PromptGuardRequestSpec = Parsed<typeof promptGuardRequest>
export type PromptGuardResponseSpec = Parsed<typeof promptGuardResponse>
export type PromptGuardSpec = Parsed<typeof promptGuard>
export type WebhookSpec = Parsed<typeof webhook>
export type GuardrailsServiceOneSpec = Parsed<typeof guardrailsServiceOne>
export type GuardrailsServiceTwoSpec = Parsed<typeof guardrailsServiceTwo>
