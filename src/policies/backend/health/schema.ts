import { celExpression, defaulted, described, duration, integer, object, optional, type Parsed } from '#schema/index.ts'

const eviction = object({
  duration: defaulted(
    duration({ min: '1s' }),
    '3s',
    'Time out of load balancing; multiplied by the number of evictions so far.',
  ),
  restoreHealth: optional(
    integer({ min: 0, max: 100 }),
    'Health, in percent, on return; the health at eviction when unset.',
  ),
  consecutiveFailures: optional(
    integer({ min: 0 }),
    'Unhealthy responses in a row that evict. With neither this nor healthThreshold, one evicts.',
  ),
  healthThreshold: optional(
    integer({ min: 0, max: 100 }),
    'Evict when the moving average of health, in percent, falls below this after an unhealthy response.',
  ),
})

/** `backend.health` (specification 2, 2.3). */
export const backendHealth = described(
  'What counts as unhealthy, and what happens then.',
  object({
    unhealthyCondition: optional(
      celExpression(),
      'Whether a response counts as unhealthy, for example response.code >= 500. Unset: any 5xx. No response (connection failure, timeout) always does.',
    ),
    eviction: optional(
      eviction,
      'Take unhealthy endpoints out of load balancing for a while; nothing is evicted when unset.',
    ),
  }),
)

export type EvictionSpec = Parsed<typeof eviction>
export type BackendHealthSpec = Parsed<typeof backendHealth>
