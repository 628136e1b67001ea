import { REDACTED } from '#base/credential-names.ts'
import { escapeInvisible } from '#base/visible-text.ts'
import type {
  DescribedCallout,
  DescribedExplanation,
  DescribedLimit,
  DescribedOutcome,
  DescribedRefusal,
  DescribedStep,
} from './described-explanation.ts'
import { formatBackend, formatListener, formatPolicies, ruleText } from './format-parts.ts'

/** An explanation as text, in the order of processing. */
export function formatExplanation(explanation: DescribedExplanation): string {
  const { outcome, policies, listener, backends = [], endpoints = [] } = explanation
  if (outcome.kind === 'unreachable') return outcome.message
  // The request is malformed: nothing was decided.
  if (policies === undefined) return [...formatTitle(explanation), ...formatOutcome(outcome)].join('\n')
  return [
    ...formatTitle(explanation),
    ...formatPath(explanation),
    ...formatListener(listener),
    ...formatRoute(explanation),
    ...formatPolicies(policies),
    ...formatSteps(explanation.steps),
    ...(explanation.consumer === undefined ? [] : [`consumer  ${explanation.consumer}`, '']),
    ...(explanation.callouts ?? []).flatMap((callout) => [answerText(callout), ...indent(callout.question), '']),
    ...formatLimits(explanation.limits),
    ...formatBackend(backends, endpoints),
    ...formatProtocol(explanation),
    ...formatOutcome(outcome),
  ].join('\n')
}

function formatTitle({ kind, method, url, serverName = '' }: DescribedExplanation): string[] {
  if (kind === 'request') return [`${method} ${url}`, '']
  const name = serverName === '' ? 'without a server name' : `server name ${serverName}`
  return [`connection to ${new URL(url).host}, ${name}`, '']
}

/** Only if the path that rules match differs from the received path. */
function formatPath({ path }: DescribedExplanation): string[] {
  if (path === undefined || path.received === path.matched) return []
  return [`path      ${path.received} is matched as ${path.matched}`, '']
}

const MISSES_SHOWN = 12

function formatRoute({ kind, route, nearMisses = [], otherHostnames = [], outcome }: DescribedExplanation): string[] {
  const lines: string[] = []
  if (route !== undefined) {
    lines.push(`route     ${ruleText(route)}`)
    const method = route.method === undefined ? '' : ` with ${route.method}`
    if (route.match !== undefined) lines.push(`          matches ${route.match}${method}`)
  } else if (kind === 'connection') {
    lines.push('route     no route matches this server name')
  } else {
    const isTried = outcome.kind === 'refused' && outcome.code === 'route-not-found'
    lines.push(isTried ? 'route     no route matches' : 'route     not reached')
  }
  const near = nearMisses.filter(({ pathMatches }) => pathMatches)
  for (const { object, rule, match, why } of near.slice(0, MISSES_SHOWN)) {
    lines.push(`          not ${object}, rule ${rule} ${match}: ${why}`)
  }
  const far = nearMisses.length - Math.min(near.length, MISSES_SHOWN)
  const other = near.length > 0 || route !== undefined ? ' other' : ''
  if (far > 0) lines.push(`          ${far}${other} ${far === 1 ? 'match is' : 'matches are'} for other paths`)
  if (otherHostnames.length > 0) lines.push(`          routes are only for ${shorten(otherHostnames).join(', ')}`)
  return [...lines, '']
}

function shorten(names: readonly string[]): readonly string[] {
  return names.length > MISSES_SHOWN ? [...names.slice(0, MISSES_SHOWN), '...'] : names
}

/** Connections have no steps. */
function formatSteps(steps: readonly DescribedStep[] | undefined): string[] {
  if (steps === undefined) return []
  if (steps.length === 0) return ['steps     none', '']
  const lines = ['steps, in the order they ran']
  for (const { stage, name, verdict, detail, notes } of steps) {
    lines.push(`  ${stage.padEnd(12)} ${name.padEnd(22)} ${verdict}${detail === undefined ? '' : `: ${detail}`}`)
    lines.push(...notes.flatMap((note) => note.split('\n').map((line) => `      ${line}`)))
  }
  return [...lines, '']
}

/** The backend may have said the detail. */
function answerText({ policy, backend, sent, verdict, durationMs, detail: given }: DescribedCallout): string {
  const detail = given && escapeInvisible(given)
  if (sent && verdict === undefined)
    return `${policy} asked ${backend}, which had not finished at the end of the explanation`
  if (verdict === undefined) {
    return `${policy} would ask ${backend} (not sent without --call; what follows assumes that it allows the request)`
  }
  if (!sent) return `${policy} cannot ask ${backend}: ${detail ?? verdict}`
  const said = verdict === 'failed' ? 'which gave no decision' : `which ${verdict} the request`
  return `${policy} asked ${backend}, ${said} (${durationMs} ms)${detail === undefined ? '' : `: ${detail}`}`
}

/** The limits, not their levels, which only a running gateway knows. */
function formatLimits(limits: readonly DescribedLimit[] = []): string[] {
  if (limits.length === 0) return []
  const lines = limits.map(({ unit, capacity, intervalMs, key }) => {
    const span = intervalMs === 1000 ? 'a second' : intervalMs === 60_000 ? 'a minute' : 'an hour'
    return `  at most ${capacity} ${unit} within ${span}, ${keyText(key)}`
  })
  return ['local rate limits (current usage is not checked; callers over the limit are refused)', ...lines, '']
}

function keyText(key: DescribedLimit['key']): string {
  if (key === undefined) return 'for all requests together'
  const { expression, value } = key
  if (value === undefined) return `for all requests without a value of ${expression}`
  return `for each ${expression}: this one is ${value === REDACTED ? value : JSON.stringify(value)}`
}

function formatProtocol({ protocol = [], outcome }: DescribedExplanation): string[] {
  if (protocol.length === 0 || outcome.kind === 'answered') return []
  return outcome.kind === 'refused' || outcome.kind === 'forwarded' ? [...protocol, ''] : [...protocol]
}

const HTTP_VERSION_NAMES = {
  http1: 'HTTP/1.1',
  http2: 'HTTP/2',
  negotiated: 'HTTP/2 or HTTP/1.1, negotiated with the server',
} as const

function formatOutcome(outcome: Exclude<DescribedOutcome, { kind: 'unreachable' }>): string[] {
  switch (outcome.kind) {
    case 'refused':
      return [refusalLine(outcome)]
    case 'closed':
      return [`closed    ${outcome.text} (${whyText(outcome)})`]
    case 'answered':
      return [`response  ${outcome.status}, generated by the gateway`, ...indent(outcome.head), ...indent(outcome.body)]
    case 'forwarded':
      return [`request to the backend, over ${HTTP_VERSION_NAMES[outcome.http]}`, ...indent(outcome.message)]
    case 'served':
      return []
    case 'relayed':
      return [`relayed   ${outcome.unchanged} unchanged, to ${outcome.to}`]
  }
}

function refusalLine(refusal: DescribedRefusal): string {
  const { status, grpcStatus, text } = refusal
  const shown = grpcStatus === undefined ? status : `${status} with grpc-status ${grpcStatus}`
  return `response  ${shown} ${text} (${whyText(refusal)})`
}

function whyText({ code, detail }: { readonly code: string; readonly detail?: string }): string {
  return detail === undefined ? code : `${code}: ${detail}`
}

function indent(text: string): string[] {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => `  ${line}`.trimEnd())
}
