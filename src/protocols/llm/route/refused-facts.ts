import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { MAX_MEMBERS, scanMembers } from '../json/scan-members.ts'
import type { AiProviderPlan } from '../plan/ai-plan.ts'
import { finalModel } from '../plan/final-model.ts'
import { buildFacts, misreadAt, modelIn } from '../plan/request-facts.ts'
import { SessionQuery } from '../realtime/session-query.ts'
import type { RouteType } from '../settings/policy-schema.ts'
import { isClientFormat } from '../settings/route-type.ts'

/**
 * What log and record say about a request that was refused before it was sent: its operation, and provider and model as far as they are
 * known. The body may not have been read, or not be JSON.
 * @param provider undefined: the request was refused before one of several was chosen
 */
export function refusedFacts(
  type: RouteType | undefined,
  provider: AiProviderPlan | undefined,
  exchange: Exchange,
): LlmFacts | undefined {
  if (type === undefined || type === 'Models' || type === 'Passthrough') return undefined
  const given = givenModel(type, exchange)
  const known = provider && type !== 'Detect' ? finalModel(provider, given)?.facts : undefined
  const misread = provider && misreadAt(provider, exchange)
  return buildFacts(provider, type, { requestModel: given ?? '', ...known, misread })
}

function givenModel(type: RouteType, { request, newRequestBody, requestBody }: Exchange): string | undefined {
  if (type === 'Realtime') {
    const query = SessionQuery.read(request.target)
    return typeof query === 'string' ? undefined : query.model
  }
  const body = newRequestBody ?? requestBody.whole
  if (body === undefined || (type !== 'Detect' && !isClientFormat(type))) return undefined
  const members = scanMembers(body, MAX_MEMBERS)
  return 'fault' in members ? undefined : modelIn(members)
}
