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
      'LLM tokens per unit, input plus output. Tokens are counted when a response is complete, so they limit later requests.',
    ),
    unit: required(enumOf('Seconds', 'Minutes', 'Hours'), 'Time unit of the limit.'),
    burst: optional(integer({ min: 0 }), 'Additional requests or tokens allowed in a burst.'),
    key: optional(
      celExpression(),
      'Extension of this gateway. CEL expression for the caller, for example source.address, jwt.sub or apiKey.key: the limit applies to ' +
        'each value separately. Requests without a value (null, or the expression fails) share one limit. When unset, all requests share ' +
        'one limit. At most 65,536 values are counted separately at the same time; further ones share one limit until others have not ' +
        'used theirs for a while.',
    ),
  }),
)

const descriptor = object({
  entries: required(
    list(
      object({
        name: required(tinyString(), 'Name of the entry.'),
        expression: required(celExpression(), 'CEL expression for the value, for example source.address.'),
      }),
      { min: 1, max: 16 },
    ),
    'Entries of the descriptor. The server keeps one count for each combination of values.',
  ),
  unit: defaulted(enumOf('Requests', 'Tokens'), 'Requests', 'Unit that is counted.'),
  cost: optional(
    celExpression(),
    'CEL expression for the cost of one request. When unset, 1 for Requests and the total token count for Tokens. ' +
      'For Tokens it is evaluated after the response.',
  ),
})

const globalRateLimit = object({
  backendRef: required(backendObjectReference(), 'Service or ProxyBackend of the rate limit server.'),
  failureMode: optional(
    enumOf('FailClosed', 'FailOpen'),
    'Behavior when the server does not respond. FailClosed (the default): refuse the request. FailOpen: allow it.',
  ),
  domain: required(shortString(), 'Domain of the limits on the server; separates applications that share it.'),
  descriptors: required(list(descriptor, { min: 1, max: 16 }), 'Descriptors to send to the server.'),
})

const rateLimit = notEmpty(
  object({
    local: optional(
      list(localRateLimit, { min: 1, max: 16 }),
      'Limits that each proxy instance counts on its own. All of them apply.',
    ),
    global: optional(globalRateLimit, 'Limits that an external server counts.'),
  }),
)

/** `traffic.rateLimit` (specification 2, 2.2.8). */
export const trafficRateLimit = described('Rate limiting.', orConditional(rateLimit))

export type LocalRateLimitSpec = Parsed<typeof localRateLimit>
export type GlobalRateLimitSpec = Parsed<typeof globalRateLimit>
export type RateLimitSpec = Parsed<typeof rateLimit>
export type RateLimitSection = Parsed<typeof trafficRateLimit>
