import { celExpression, defaulted, described, duration, integer, object, optional, type Parsed } from '#schema/index.ts'

const eviction = object({
  duration: defaulted(
    duration({ min: '1s' }),
    '3s',
    'How long an endpoint stays evicted, multiplied by the number of evictions so far.',
  ),
  restoreHealth: optional(
    integer({ min: 0, max: 100 }),
    'Health of the endpoint after eviction, in percent. When unset, its health at eviction.',
  ),
  consecutiveFailures: optional(
    integer({ min: 0 }),
    'Number of consecutive unhealthy responses that evict the endpoint. When neither this nor healthThreshold is set, 1.',
  ),
  healthThreshold: optional(
    integer({ min: 0, max: 100 }),
    'Evict the endpoint when an unhealthy response brings its average health, in percent, below this value.',
  ),
})

/** `backend.health` (specification 2, 2.3). */
export const backendHealth = described(
  'Passive health checks and eviction of endpoints.',
  object({
    unhealthyCondition: optional(
      celExpression(),
      'CEL expression that is true for unhealthy responses, for example response.code >= 500. When unset, any 5xx. A missing response (connection failure, timeout) is always unhealthy.',
    ),
    eviction: optional(
      eviction,
      'Temporarily remove unhealthy endpoints from load balancing. When unset, no endpoint is evicted.',
    ),
  }),
)

export type EvictionSpec = Parsed<typeof eviction>
export type BackendHealthSpec = Parsed<typeof backendHealth>
