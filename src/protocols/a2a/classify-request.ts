import { matchedPathOf } from '#net/http/path-form.ts'

/** What an A2A agent is asked for, as far as the gateway cares. */
export type A2aRequest = 'agent-card' | 'call' | 'other'

/** Where agents publish their card: since 0.3, and before. */
const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const

/**
 * @param target request target towards the agent, after rewrites
 */
export function classifyRequest(method: string, target: string): A2aRequest {
  if (method === 'POST') return 'call'
  return method === 'GET' && cardSuffix(target) !== undefined ? 'agent-card' : 'other'
}

/** The part of a path that says "agent card"; undefined when it names none. A query is no part of it. */
export function cardSuffix(target: string): string | undefined {
  const path = matchedPathOf(target)
  return CARD_PATHS.find((suffix) => path.endsWith(suffix))
}
