import { fromByteText } from '#base/byte-text.ts'
import { REDACTED } from '#base/credential-names.ts'
import { grpcStatusOf } from '#base/grpc-status.ts'
import type { ExplainedCallout, Explanation } from '#engine/explain/explain.ts'
import { describePath } from '#engine/route/candidate.ts'
import { type Refusal, refusalStatus, refusalText } from '#exchange/outcome.ts'
import type { TracedLimit, WrittenCredential } from '#exchange/trace.ts'
import type { CheckedObjects } from '#store/store.ts'
import {
  describeEndpoints,
  describeListener,
  describePolicies,
  describeRule,
  type Locate,
  locator,
  setMembers,
} from './describe-parts.ts'
import type {
  DescribedCallout,
  DescribedExplanation,
  DescribedLimit,
  DescribedOutcome,
  DescribedRefusal,
} from './described-explanation.ts'
import { hideCredentials } from './hide-credentials.ts'
import { messageLines } from './message-lines.ts'

export interface ExplainedRequest {
  readonly method: string
  /** As typed. */
  readonly url: string
  readonly explanation: Explanation
  readonly store: Pick<CheckedObjects, 'locate'>
  /** Shows credentials of messages in clear text. */
  readonly showsSecrets: boolean
  /** Hides the credentials of the request in any text. */
  readonly hideValues: (text: string) => string
}

/** Hides the credentials of a message. @param more where else they are */
type Hide = (message: string, more?: readonly WrittenCredential[]) => string

export function describeRequest(request: ExplainedRequest): DescribedExplanation {
  const { method, url, explanation, store, showsSecrets } = request
  const { listener, path, policies, steps, limits, backends, endpoints, protocol } = explanation
  const locate = locator(store)
  const hide: Hide = showsSecrets
    ? (message) => message
    : (message, more = []) => hideCredentials(message, [...explanation.credentials, ...more])
  return {
    kind: 'request',
    method,
    url,
    path,
    ...setMembers({ listener: listener && describeListener(listener, locate) }),
    ...describeRoute(explanation, locate),
    policies: describePolicies(policies, locate),
    steps: steps.map(({ stage, name, verdict, detail, notes = [] }) => ({
      ...{ stage, name, verdict, notes },
      ...setMembers({ detail }),
    })),
    ...setMembers({ consumer: explanation.consumer }),
    callouts: explanation.callouts.map((callout) => describeCallout(callout, request, hide)),
    limits: limits.map((limit) => describeLimit(limit, showsSecrets)),
    backends,
    endpoints: describeEndpoints(endpoints),
    protocol: protocol?.lines ?? [],
    outcome: describeOutcome(explanation, hide),
  }
}

function describeRoute(
  { route, nearMisses, otherHostnames }: Explanation,
  locate: Locate,
): Pick<DescribedExplanation, 'route' | 'nearMisses' | 'otherHostnames'> {
  const misses = nearMisses.filter(({ match }) => match !== route?.match)
  return {
    ...(route !== undefined && {
      route: {
        ...describeRule(route.item, locate),
        match: describePath(route.match),
        ...setMembers({ method: route.match.method }),
      },
    }),
    nearMisses: misses.map(({ item, match, why, pathMatches }) => ({
      ...describeRule(item, locate),
      ...{ match: describePath(match), why, pathMatches },
    })),
    ...(otherHostnames.length > 0 && { otherHostnames }),
  }
}

function describeCallout(
  { policy, backend, sent, answer, question }: ExplainedCallout,
  { explanation, showsSecrets, hideValues }: ExplainedRequest,
  hide: Hide,
): DescribedCallout {
  const parameters = explanation.credentials.flatMap(({ kind, name }) => (kind === 'queryParameter' ? [name] : []))
  const lines =
    question.protocol === 'http'
      ? fromByteText(hide(question.message, question.credentials)).trimEnd().split('\r\n')
      : [
          `gRPC call of ${question.path}, a message of ${question.bytes} bytes`,
          ...messageLines(question.message, showsSecrets ? undefined : { secrets: question.secrets, parameters }),
        ]
  return {
    ...{ policy, backend, sent },
    ...setMembers({
      verdict: answer?.verdict,
      durationMs: answer && Math.ceil(answer.durationMs),
      detail: answer?.detail,
    }),
    question: (showsSecrets ? lines : lines.map(hideValues)).join('\n'),
  }
}

function describeLimit({ unit, capacity, unitMs, key }: TracedLimit, showsSecrets: boolean): DescribedLimit {
  const limit = { unit, capacity, intervalMs: unitMs }
  if (key === undefined) return limit
  const { expression, value, isSecret } = key
  const shown = value !== undefined && isSecret && !showsSecrets ? REDACTED : value
  return { ...limit, key: { expression, ...setMembers({ value: shown }) } }
}

function describeOutcome({ outcome, grpc, upstream, upstreamHttp }: Explanation, hide: Hide): DescribedOutcome {
  if (outcome?.kind === 'refusal') return describeRefusal(outcome, grpc)
  if (outcome?.kind === 'answer') {
    const { head, body } = outcome
    return {
      kind: 'answered',
      status: head.status,
      head: hide(head.writeResponse(0, -1, '')),
      body: Buffer.from(body ?? '').toString(),
    }
  }
  if (upstream === undefined) return { kind: 'served' }
  return { kind: 'forwarded', http: upstreamHttp!, message: hide(Buffer.from(upstream, 'latin1').toString()) }
}

/** What a client that is refused gets, and why. */
export function describeRefusal(refusal: Refusal, grpc = false): DescribedRefusal {
  const { code, detail } = refusal
  const status = refusalStatus(refusal)
  return {
    kind: 'refused',
    code,
    status: grpc ? 200 : status,
    ...(grpc && { grpcStatus: grpcStatusOf(code, status) }),
    text: refusalText(refusal),
    ...setMembers({ detail }),
  }
}
