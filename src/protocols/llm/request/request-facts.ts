import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import type { AiProviderPlan } from '../ai-plan.ts'
import { findMember, type Members, stringAt } from '../json/scan-members.ts'
import type { RouteType } from '../policy-schema.ts'

/** Names of operations in logs and metrics (decision B98). */
const OPERATIONS: Partial<Record<RouteType, LlmFacts['operation']>> = {
  Completions: 'chat',
  Messages: 'chat',
  Responses: 'chat',
  Embeddings: 'embeddings',
  Realtime: 'realtime',
}

/**
 * Facts of a request by its route type and provider.
 * @param provider undefined: it has not been chosen
 */
export function buildFacts(provider: AiProviderPlan | undefined, type: RouteType, call: Partial<LlmFacts>): LlmFacts {
  return {
    ...NO_LLM,
    routeType: type,
    operation: OPERATIONS[type],
    provider: provider?.provider.system ?? '',
    serverAddress: provider?.destination.host ?? '',
    ...call,
  }
}

/** The model that a body names. */
export function modelIn(members: Members): string | undefined {
  const index = findMember(members, 'model')
  return index < 0 ? undefined : stringAt(members, index)
}
