import {
  backendObjectReference,
  celExpression,
  defaulted,
  described,
  enumOf,
  exactlyOne,
  integer,
  list,
  notEmpty,
  object,
  optional,
  type Parsed,
  required,
  shortString,
  tinyString,
} from '#schema/index.ts'
import { orConditional } from '../../shared/conditional.ts'

const localRateLimit = exactlyOne(
  ['requests', 'tokens'],
  object({
    requests: optional(integer({ min: 1 }), 'HTTP requests per unit.'),
    tokens: optional(
      integer({ min: 1 }),
      'LLM tokens per unit, input and output together. They are known when an answer is complete, so they limit later requests.',
    ),
    unit: required(enumOf('Seconds', 'Minutes', 'Hours'), 'Unit of time of the limit.'),
    burst: optional(integer({ min: 0 }), 'How much more may come in a short time.'),
  }),
)

const descriptor = object({
  entries: required(
    list(
      object({
        name: required(tinyString(), 'Name of the entry.'),
        expression: required(celExpression(), 'Its value, for example source.address.'),
      }),
      { min: 1, max: 16 },
    ),
    'What the limit is counted by.',
  ),
  unit: defaulted(enumOf('Requests', 'Tokens'), 'Requests', 'What is counted.'),
  cost: optional(
    celExpression(),
    'What one request costs; 1 for Requests and the total token count for Tokens when unset. ' +
      'For Tokens it is evaluated after the answer.',
  ),
})

const globalRateLimit = object({
  backendRef: required(backendObjectReference(), 'The rate limit server: a Service or a ProxyBackend.'),
  failureMode: optional(
    enumOf('FailClosed', 'FailOpen'),
    'What happens when the server does not answer. FailClosed (the default) refuses the request, FailOpen lets it pass.',
  ),
  domain: required(shortString(), 'Separates applications on one server.'),
  descriptors: required(list(descriptor, { min: 1, max: 16 }), 'The rules asked for.'),
})

const rateLimit = notEmpty(
  object({
    local: optional(
      list(localRateLimit, { min: 1, max: 16 }),
      'Limits counted by each proxy instance for itself. All of them apply.',
    ),
    global: optional(globalRateLimit, 'Limits counted by an external server.'),
  }),
)

/** `traffic.rateLimit` (specification 2, 2.2.8). */
export const trafficRateLimit = described('Rate limits.', orConditional(rateLimit))

export type LocalRateLimitSpec = Parsed<typeof localRateLimit>
export type GlobalRateLimitSpec = Parsed<typeof globalRateLimit>
export type RateLimitSpec = Parsed<typeof rateLimit>
export type RateLimitSection = Parsed<typeof trafficRateLimit>
