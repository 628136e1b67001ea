import { REJECTIONS } from '#base/rejections.ts'
import type { RelayExplanation } from '#engine/explain/explain-relay.ts'
import type { CheckedObjects } from '#store/store.ts'
import {
  describeRule,
  formatBackend,
  formatListener,
  formatPolicies,
  locator,
  type Where,
} from './explanation-lines.ts'

export interface RelayExplanationText {
  readonly url: URL
  /** Empty: the client sends none. */
  readonly serverName: string
  readonly explanation: RelayExplanation
  readonly store: CheckedObjects
}

/** An explanation as text, in the order of processing. */
export function formatRelayExplanation({ url, serverName, explanation, store }: RelayExplanationText): string {
  const where = locator(store)
  return [
    `connection to ${url.host}, ${serverName === '' ? 'without a server name' : `server name ${serverName}`}`,
    '',
    ...formatListener(explanation, where),
    ...formatRoute(explanation, where),
    ...formatPolicies(explanation.policies, where),
    ...formatBackend(explanation),
    formatOutcome(explanation),
  ].join('\n')
}

function formatRoute({ route }: RelayExplanation, where: Where): string[] {
  return [
    route === undefined ? 'route     no route matches this server name' : `route     ${describeRule(route, where)}`,
    '',
  ]
}

function formatOutcome({ refusal, endpoints, listener }: RelayExplanation): string {
  if (refusal !== undefined) {
    const detail = refusal.detail === undefined ? '' : `: ${refusal.detail}`
    return `closed    ${REJECTIONS[refusal.code].text} (${refusal.code}${detail})`
  }
  const to = endpoints.find(({ chosen }) => chosen)?.label
  const what = listener.tlsMode === 'Passthrough' ? 'TLS unchanged' : 'bytes unchanged'
  return `relayed   ${what}, to ${to}`
}
