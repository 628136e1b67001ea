import type { EndpointHealth } from '#state/endpoint-health.ts'

/** Something that requests can be sent to. */
export interface Balanced {
  readonly health: EndpointHealth
}

/**
 * Chooses an endpoint (specification 1, 2.4 and section 3): the first priority group that has a serving endpoint; in it the better
 * of two random draws. A later attempt prefers endpoints not tried yet, first in the same group, then in the next (decision B94).
 * When every endpoint is evicted, they serve all the same, in the same order.
 * @returns undefined only when there is no endpoint at all
 */
export function chooseEndpoint<E extends Balanced>(
  groups: readonly (readonly E[])[],
  tried: readonly E[],
  random: () => number,
): E | undefined {
  for (const group of groups) {
    const endpoint = drawServing(group, tried, random)
    if (endpoint !== undefined) return endpoint
  }
  return tried.length === 0 ? drawAny(groups, random) : chooseAgain(groups, tried, random)
}

/** Every serving endpoint was tried: an evicted one that was not may answer where none is serving. */
function chooseAgain<E extends Balanced>(
  groups: readonly (readonly E[])[],
  tried: readonly E[],
  random: () => number,
): E | undefined {
  for (const group of groups) {
    const endpoint = drawServing(group, [], random)
    if (endpoint !== undefined) return endpoint
  }
  const untried = groups.map((group) => group.filter((endpoint) => !tried.includes(endpoint)))
  return drawAny(untried, random) ?? drawAny(groups, random)
}

function drawAny<E extends Balanced>(groups: readonly (readonly E[])[], random: () => number): E | undefined {
  for (const group of groups) if (group.length > 0) return betterOfTwo(group, random)
  return undefined
}

function drawServing<E extends Balanced>(
  group: readonly E[],
  tried: readonly E[],
  random: () => number,
): E | undefined {
  if (group.length === 1) {
    const only = group[0]!
    return only.health.evicted || tried.includes(only) ? undefined : only
  }
  const serving = group.filter((endpoint) => !endpoint.health.evicted && !tried.includes(endpoint))
  return serving.length === 0 ? undefined : betterOfTwo(serving, random)
}

/** Two draws with replacement, so that even the worst endpoint stays reachable. */
function betterOfTwo<E extends Balanced>(endpoints: readonly E[], random: () => number): E {
  const one = endpoints[Math.floor(random() * endpoints.length)]!
  const other = endpoints[Math.floor(random() * endpoints.length)]!
  return other.health.score > one.health.score ? other : one
}
