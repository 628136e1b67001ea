import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '#base/finding.ts'
import { loadPlan } from '#cli/load-plan.ts'
import type { LiveEndpoint } from '#engine/backend/live-backend.ts'
import { LivePlan } from '#engine/plan/live-plan.ts'
import { Decision, decide } from '#engine/request/decide.ts'
import { prepareAttempt } from '#engine/request/prepare-attempt.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { Outcome } from '#exchange/outcome.ts'
import { wholePlan } from '#plan/delta.ts'
import { type ExchangeInputs, exchangeWith } from '#policies/shared/testing.ts'
import { FileStore } from '#store/files.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** What a gateway with some objects makes of one request. */
export interface SeenRequest {
  readonly exchange: Exchange
  readonly decision: Decision
  /** The endpoints of the backend that is chosen, by priority. */
  readonly endpoints: readonly LiveEndpoint[]
  /** What lint says. */
  readonly findings: readonly Finding[]
  /** Until an attempt. */
  readonly outcome: Outcome
  /** Until it would be sent to this endpoint; by default, to the first. */
  attempt(endpoint?: LiveEndpoint): Promise<Outcome>
}

/** Decides a request at the listener with port 8080, without sockets. @param yaml the objects */
export async function seeRequest(yaml: string, request: ExchangeInputs = {}): Promise<SeenRequest> {
  const file = join(temporaryFolder(), 'objects.yaml')
  writeFileSync(file, yaml)
  const { items, state, findings } = loadPlan(new FileStore([file]))
  const plan = new LivePlan(state)
  plan.update(wholePlan(items))
  const exchange = exchangeWith(request)
  const decision = new Decision()
  const socket = [...plan.sockets.values()].find(({ port }) => port === 8080)
  const outcome = await decide({ index: plan.index, socket: socket!, random: () => 0 }, exchange, decision)
  const endpoints = decision.backend?.groups.flat() ?? []
  return {
    exchange,
    decision,
    endpoints,
    findings,
    outcome,
    attempt: async (endpoint = endpoints[0]!) => prepareAttempt(endpoint, exchange, decision),
  }
}
