import { REJECTIONS } from '#base/rejections.ts'
import type { RelayExplanation } from '#engine/explain/explain-relay.ts'
import type { CheckedObjects } from '#store/store.ts'
import {
  describeEndpoints,
  describeListener,
  describePolicies,
  describeRule,
  locator,
  setMembers,
} from './describe-parts.ts'
import type { DescribedExplanation, DescribedOutcome } from './described-explanation.ts'

export interface ExplainedConnection {
  /** As typed. */
  readonly url: string
  /** Empty: the client sends none. */
  readonly serverName: string
  readonly explanation: RelayExplanation
  readonly store: Pick<CheckedObjects, 'locate'>
}

export function describeConnection({ url, serverName, explanation, store }: ExplainedConnection): DescribedExplanation {
  const { listener, route, policies, backends, endpoints } = explanation
  const locate = locator(store)
  return {
    kind: 'connection',
    url,
    serverName,
    listener: describeListener(listener, locate),
    ...setMembers({ route: route && describeRule(route, locate) }),
    policies: describePolicies(policies, locate),
    backends,
    endpoints: describeEndpoints(endpoints),
    outcome: describeOutcome(explanation),
  }
}

function describeOutcome({ refusal, endpoints, listener }: RelayExplanation): DescribedOutcome {
  if (refusal !== undefined) {
    const { code, detail } = refusal
    return { kind: 'closed', code, text: REJECTIONS[code].text, ...setMembers({ detail }) }
  }
  const to = endpoints.find(({ chosen }) => chosen)!.label
  return { kind: 'relayed', to, unchanged: listener.tlsMode === 'Passthrough' ? 'TLS' : 'bytes' }
}
