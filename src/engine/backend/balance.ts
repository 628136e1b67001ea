import type { EndpointHealth } from '#state/endpoint-health.ts'

/** An endpoint, as load balancing sees it. */
export interface Balanced {
  readonly health: EndpointHealth
}

/**
 * Chooses an endpoint (specification 1, 2.4 and section 3): the better of two random draws from the first priority group that has an
 * endpoint which is not evicted. A retry prefers endpoints that were not tried yet, first in the same group, then in the next (decision
 * B94). If every endpoint is evicted, evicted endpoints are chosen in the same order.
 * @returns undefined only if there is no endpoint
 */
export function chooseEndpoint<E extends Balanced>(
  groups: readonly (readonly E[])[],
  tried: readonly E[],
  random: () => number,
): E | undefined {
  for (const group of groups) {
    const endpoint = drawAvailable(group, tried, random)
    if (endpoint !== undefined) return endpoint
  }
  return tried.length === 0 ? drawAny(groups, random) : chooseAgain(groups, tried, random)
}

/** Without an untried endpoint that is not evicted: repeats one that is not evicted, else chooses an evicted one, untried first. */
function chooseAgain<E extends Balanced>(
  groups: readonly (readonly E[])[],
  tried: readonly E[],
  random: () => number,
): E | undefined {
  for (const group of groups) {
    const endpoint = drawAvailable(group, [], random)
    if (endpoint !== undefined) return endpoint
  }
  const untried = groups.map((group) => group.filter((endpoint) => !tried.includes(endpoint)))
  return drawAny(untried, random) ?? drawAny(groups, random)
}

function drawAny<E extends Balanced>(groups: readonly (readonly E[])[], random: () => number): E | undefined {
  for (const group of groups) if (group.length > 0) return betterOfTwo(group, random)
  return undefined
}

function drawAvailable<E extends Balanced>(
  group: readonly E[],
  tried: readonly E[],
  random: () => number,
): E | undefined {
  if (group.length === 1) {
    const only = group[0]!
    return only.health.evicted || tried.includes(only) ? undefined : only
  }
  const available = group.filter((endpoint) => !endpoint.health.evicted && !tried.includes(endpoint))
  return available.length === 0 ? undefined : betterOfTwo(available, random)
}

/** Draws with replacement, so that even the endpoint with the lowest score is sometimes chosen. */
function betterOfTwo<E extends Balanced>(endpoints: readonly E[], random: () => number): E {
  const one = draw(endpoints, random)
  const other = draw(endpoints, random)
  return other.health.score > one.health.score ? other : one
}

/** An endpoint that has just returned to service takes only a share of its draws. The rest is drawn again, once. */
function draw<E extends Balanced>(endpoints: readonly E[], random: () => number): E {
  const drawn = endpoints[Math.floor(random() * endpoints.length)]!
  const { share } = drawn.health
  return share >= 1 || random() < share ? drawn : endpoints[Math.floor(random() * endpoints.length)]!
}
