import { matchedPathOf } from '#net/http/path-form.ts'

/** Kinds of requests to an A2A agent that the gateway distinguishes. */
export type A2aRequest = 'agent-card' | 'call' | 'other'

/** Paths of agent cards: since 0.3, and before. */
const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const

/**
 * @param target request target towards the agent, after rewrites
 */
export function classifyRequest(method: string, target: string): A2aRequest {
  if (method === 'POST') return 'call'
  return method === 'GET' && cardSuffix(target) !== undefined ? 'agent-card' : 'other'
}

/** The suffix of a path that identifies an agent card; undefined without one. The query is ignored. */
export function cardSuffix(target: string): string | undefined {
  const path = matchedPathOf(target)
  return CARD_PATHS.find((suffix) => path.endsWith(suffix))
}
