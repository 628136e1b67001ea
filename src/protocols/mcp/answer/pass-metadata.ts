import { CallError } from '#exchange/call.ts'
import { isAmbiguous, matchedPathOf, pathFault } from '#net/http/path-form.ts'
import { signInEndpoint } from '#policies/shared/sign-in/endpoint.ts'
import type { ServedAnswer } from '../../backend-protocol.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { passedHeaders, targetHeaders } from '../target/forward-headers.ts'
import { noteAttempt, sinceReceived } from '../target/note-attempt.ts'
import { failedCall, LIMITS } from '../target/send-to-target.ts'
import { answerFailure } from '../target/target-failure.ts'

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * The only target, if the request asks for OAuth metadata that this target publishes about itself: the backend has no authentication of its
 * own. With several targets nobody could say whose metadata it is. A path in another spelling could mean something else to the target, so it is none of these.
 */
export function publisherOf({ plan, exchange }: Pick<McpRequest, 'plan' | 'exchange'>): McpTargetPlan | undefined {
  const { method, target } = exchange.request
  if (plan.multiplexes || plan.authentication !== undefined || !METHODS.has(method)) return undefined
  const path = matchedPathOf(target)
  if (!target.startsWith(path) || pathFault(path) !== undefined || isAmbiguous(path)) return undefined
  const endpoint = signInEndpoint(path)
  return endpoint === undefined || endpoint.kind === 'registration' ? undefined : plan.targets[0]
}

/** Forwards a request for OAuth metadata to the target, with its path, and the response as it is. */
export async function passMetadata(request: McpRequest, target: McpTargetPlan): Promise<ServedAnswer> {
  const { plan, exchange, deps } = request
  if (target.unusable !== undefined) {
    return answerFailure(exchange, { kind: 'failed', failure: 'no-endpoint', detail: target.unusable }, undefined)
  }
  const { method, target: path } = exchange.request
  const headers = targetHeaders(plan, exchange, target, undefined)
  exchange.request.each((name, value) => void (name === 'accept' && headers.push([name, value])))
  const sentMs = sinceReceived(request)
  try {
    const response = await deps.call(target.destination, {
      purpose: 'mcp',
      method,
      path,
      headers,
      body: undefined,
      timeoutMs: 0,
      defaultDeadlineMs: LIMITS.list.wholeMs,
      signal: deps.signal,
      isRepeatable: true,
    })
    const { status } = response
    noteAttempt(request, {
      endpoint: target.name,
      status,
      failure: undefined,
      sentMs,
      answeredMs: sinceReceived(request),
    })
    return { status, headers: passedHeaders(response.headers), body: response.body }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const { failure, detail } = error
    noteAttempt(request, {
      endpoint: target.name,
      status: 0,
      failure,
      detail,
      sentMs,
      answeredMs: sinceReceived(request),
    })
    return answerFailure(exchange, failedCall(target, error), undefined)
  }
}
