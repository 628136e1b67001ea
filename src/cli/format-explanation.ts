import { fromByteText } from '#base/byte-text.ts'
import { REDACTED } from '#base/credential-names.ts'
import { grpcStatusOf } from '#base/grpc-status.ts'
import type { Explanation } from '#engine/explain/explain.ts'
import { describePath } from '#engine/route/candidate.ts'
import { type Refusal, refusalStatus, refusalText } from '#exchange/outcome.ts'
import type { TracedLimit, TraceStep, WrittenCredential } from '#exchange/trace.ts'
import type { CheckedObjects } from '#store/store.ts'
import {
  describeRule,
  formatBackend,
  formatListener,
  formatPolicies,
  locator,
  nameOf,
  type Where,
} from './explanation-lines.ts'
import { hideCredentials } from './hide-credentials.ts'
import { messageLines } from './message-lines.ts'

export interface ExplanationText {
  readonly method: string
  /** As typed. */
  readonly url: string
  readonly explanation: Explanation
  readonly store: CheckedObjects
  /** Shows credentials of messages in clear text. */
  readonly showsSecrets: boolean
  /** Hides the credentials of the request in any text. */
  readonly hideValues: (text: string) => string
}

/** An explanation as text, in the order of processing. */
export function formatExplanation(text: ExplanationText): string {
  const { method, url, explanation, store, showsSecrets } = text
  const where = locator(store)
  const hide: Hide = showsSecrets
    ? asItIs
    : (message, more = []) => hideCredentials(message, [...explanation.credentials, ...more])
  return [
    `${method} ${url}`,
    '',
    ...formatPath(explanation),
    ...formatListener(explanation, where),
    ...formatRoute(explanation, where),
    ...formatPolicies(explanation.policies, where),
    ...formatSteps(explanation.steps),
    ...formatCallouts(text, hide),
    ...formatLimits(explanation.limits, showsSecrets),
    ...formatBackend(explanation),
    ...formatOutcome(explanation, hide),
  ].join('\n')
}

/** Only if the path that rules match differs from the received path. */
function formatPath({ path: { received, matched } }: Explanation): string[] {
  return received === matched ? [] : [`path      ${received} is matched as ${matched}`, '']
}

const MISSES_SHOWN = 12

function formatRoute({ route, nearMisses, outcome }: Explanation, where: Where): string[] {
  const lines: string[] = []
  if (route === undefined) {
    const isTried = outcome?.kind === 'refusal' && outcome.code === 'route-not-found'
    lines.push(isTried ? 'route     no route matches' : 'route     not reached')
  } else {
    const { item, match } = route
    lines.push(`route     ${describeRule(item, where)}`)
    lines.push(`          matches ${describePath(match)}${match.method === undefined ? '' : ` with ${match.method}`}`)
  }
  const others = nearMisses.filter(({ match }) => match !== route?.match)
  const near = others.filter(({ pathMatches }) => pathMatches)
  for (const { item, match, why } of near.slice(0, MISSES_SHOWN)) {
    lines.push(`          not ${nameOf(item.origin)}, rule ${item.rule} ${describePath(match)}: ${why}`)
  }
  const far = others.length - Math.min(near.length, MISSES_SHOWN)
  const other = near.length > 0 || route !== undefined ? ' other' : ''
  if (far > 0) lines.push(`          ${far}${other} ${far === 1 ? 'match is' : 'matches are'} for other paths`)
  return [...lines, '']
}

function formatSteps(steps: readonly TraceStep[]): string[] {
  if (steps.length === 0) return ['steps     none', '']
  const lines = ['steps, in the order they ran']
  for (const { stage, name, verdict, detail, notes = [] } of steps) {
    lines.push(`  ${stage.padEnd(12)} ${name.padEnd(22)} ${verdict}${detail === undefined ? '' : `: ${detail}`}`)
    lines.push(...notes.flatMap((note) => note.split('\n').map((line) => `      ${line}`)))
  }
  return [...lines, '']
}

/** What servers are asked, and what they answer. */
function formatCallouts({ explanation, showsSecrets, hideValues }: ExplanationText, hide: Hide): string[] {
  const parameters = explanation.credentials.flatMap(({ kind, name }) => (kind === 'queryParameter' ? [name] : []))
  return explanation.callouts.flatMap((callout) => {
    const { question } = callout
    const lines =
      question.protocol === 'http'
        ? fromByteText(hide(question.message, question.credentials)).trimEnd().split('\r\n')
        : [
            `gRPC call of ${question.path}, a message of ${question.bytes} bytes`,
            ...messageLines(question.message, showsSecrets ? undefined : { secrets: question.secrets, parameters }),
          ]
    const text = indent(lines.join('\n'))
    return [describeAnswer(callout), ...(showsSecrets ? text : text.map(hideValues)), '']
  })
}

function describeAnswer({ policy, backend, sent, answer }: Explanation['callouts'][number]): string {
  if (sent && answer === undefined)
    return `${policy} asked ${backend}, which had not finished at the end of the explanation`
  if (answer === undefined) {
    return `${policy} would ask ${backend} (not sent without --call; what follows assumes that it allows the request)`
  }
  const { verdict, durationMs, detail } = answer
  if (!sent) return `${policy} cannot ask ${backend}: ${detail ?? verdict}`
  const said = verdict === 'failed' ? 'which gave no decision' : `which ${verdict} the request`
  return `${policy} asked ${backend}, ${said} (${Math.ceil(durationMs)} ms)${detail === undefined ? '' : `: ${detail}`}`
}

/** The limits, not their levels, which only a running gateway knows. */
function formatLimits(limits: readonly TracedLimit[], showsSecrets: boolean): string[] {
  if (limits.length === 0) return []
  const lines = limits.map(({ unit, capacity, unitMs, key }) => {
    const span = unitMs === 1000 ? 'a second' : unitMs === 60_000 ? 'a minute' : 'an hour'
    return `  at most ${capacity} ${unit} within ${span}, ${describeKey(key, showsSecrets)}`
  })
  return ['local rate limits (levels are not read: a caller that has used one up is refused)', ...lines, '']
}

function describeKey(key: TracedLimit['key'], showsSecrets: boolean): string {
  if (key === undefined) return 'for all requests together'
  const { expression, value, isSecret } = key
  if (value === undefined) return `for all requests without a value of ${expression}`
  return `for each ${expression}: this one is ${isSecret && !showsSecrets ? REDACTED : JSON.stringify(value)}`
}

/** Hides the credentials of a message. @param more where else they are */
type Hide = (message: string, more?: readonly WrittenCredential[]) => string

const HTTP_VERSION_NAMES = {
  http1: 'HTTP/1.1',
  http2: 'HTTP/2',
  negotiated: 'HTTP/2 or HTTP/1.1, negotiated with the server',
} as const

function asItIs(message: string): string {
  return message
}

function formatOutcome({ outcome, grpc, upstream, upstreamHttp, protocol }: Explanation, hide: Hide): string[] {
  const lines = protocol?.lines ?? []
  const gap = lines.length === 0 ? [] : ['']
  if (outcome?.kind === 'refusal') return [...lines, ...gap, formatRefusal(outcome, grpc)]
  if (outcome?.kind === 'answer') {
    const body = typeof outcome.body === 'string' ? outcome.body : Buffer.from(outcome.body ?? []).toString()
    return [
      `response  ${outcome.head.status}, generated by the gateway`,
      ...indent(hide(outcome.head.writeResponse(0, -1, ''))),
      ...indent(body),
    ]
  }
  if (upstream === undefined || upstreamHttp === undefined) return [...lines]
  const sent = Buffer.from(upstream, 'latin1').toString()
  return [...lines, ...gap, `request to the backend, over ${HTTP_VERSION_NAMES[upstreamHttp]}`, ...indent(hide(sent))]
}

/** What a client that is refused gets, and why. */
export function formatRefusal(refusal: Refusal, grpc = false): string {
  const { code, detail } = refusal
  const why = detail === undefined ? code : `${code}: ${detail}`
  const http = refusalStatus(refusal)
  const status = grpc ? `200 with grpc-status ${grpcStatusOf(code, http)}` : http
  return `response  ${status} ${refusalText(refusal)} (${why})`
}

function indent(text: string): string[] {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => `  ${line}`.trimEnd())
}
