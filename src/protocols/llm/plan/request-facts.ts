import type { Exchange } from '#exchange/exchange.ts'
import { type LlmFacts, type LlmInterface, NO_LLM } from '#exchange/llm-facts.ts'
import { formatOf } from '../dialects/index.ts'
import { findMember, type Members, stringAt } from '../json/scan-members.ts'
import { otherInterface } from '../settings/known-paths.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import type { AiProviderPlan } from './ai-plan.ts'

/**
 * Facts of a request by its route type and provider.
 * @param provider undefined: it has not been chosen
 */
export function buildFacts(provider: AiProviderPlan | undefined, type: RouteType, call: Partial<LlmFacts>): LlmFacts {
  return {
    ...NO_LLM,
    routeType: type,
    operation: type === 'Realtime' ? 'realtime' : formatOf(type)?.operation,
    provider: provider?.provider.system ?? '',
    serverAddress: provider?.destination.host ?? '',
    ...call,
  }
}

/** The interface that a path belongs to if its provider handles all paths as chat completions. */
export function misreadAt({ settings }: AiProviderPlan, { originalTarget }: Exchange): LlmInterface | undefined {
  return settings.routes.unset ? otherInterface(originalTarget) : undefined
}

/** The model that a body names. */
export function modelIn(members: Members): string | undefined {
  const index = findMember(members, 'model')
  return index < 0 ? undefined : stringAt(members, index)
}
