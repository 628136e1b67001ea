import { REJECTIONS } from '#base/rejections.ts'
import type { Explanation } from '#engine/explain.ts'
import { describePath } from '#engine/route/candidate.ts'
import { refusalStatus } from '#exchange/outcome.ts'
import type { TraceStep } from '#exchange/trace.ts'
import type { A2aExplanation } from '#protocols/a2a/explain-a2a.ts'
import type { McpExplanation } from '#protocols/mcp/explain-mcp.ts'
import type { FileStore } from '#store/files.ts'
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

export interface ExplanationText {
  readonly method: string
  /** As it was typed. */
  readonly url: string
  readonly explanation: Explanation
  readonly store: FileStore
  /** Credentials of messages are shown as they are. */
  readonly showsSecrets: boolean
}

/** An explanation for a person: top-down, in the order in which a request meets things. */
export function formatExplanation({ method, url, explanation, store, showsSecrets }: ExplanationText): string {
  const where = locator(store)
  return [
    `${method} ${url}`,
    '',
    ...formatPath(explanation),
    ...formatListener(explanation, where),
    ...formatRoute(explanation, where),
    ...formatPolicies(explanation.policies, where),
    ...formatSteps(explanation.steps),
    ...formatBackend(explanation),
    ...formatOutcome(
      explanation,
      showsSecrets ? asItIs : (message) => hideCredentials(message, explanation.credentials),
    ),
  ].join('\n')
}

/** Only where rules see another path than was sent. */
function formatPath({ path: { received, matched } }: Explanation): string[] {
  return received === matched ? [] : [`path      ${received} is matched as ${matched}`, '']
}

const MISSES_SHOWN = 12

function formatRoute({ route, nearMisses }: Explanation, where: Where): string[] {
  const lines: string[] = []
  if (route === undefined) lines.push('route     none matches')
  else {
    const { item, match } = route
    lines.push(`route     ${describeRule(item, where)}`)
    lines.push(`          matches ${describePath(match)}${match.method === undefined ? '' : ` with ${match.method}`}`)
  }
  const others = nearMisses.filter(({ match }) => match !== route?.match)
  const near = others.filter(({ takesPath }) => takesPath)
  for (const { item, match, why } of near.slice(0, MISSES_SHOWN)) {
    lines.push(`          not ${nameOf(item.origin)}, rule ${item.rule} ${describePath(match)}: ${why}`)
  }
  const far = others.length - Math.min(near.length, MISSES_SHOWN)
  if (far > 0) lines.push(`          ${far} other ${far === 1 ? 'match is' : 'matches are'} for other paths`)
  return [...lines, '']
}

function formatSteps(steps: readonly TraceStep[]): string[] {
  if (steps.length === 0) return ['steps     none', '']
  const lines = ['steps, in the order in which they ran']
  for (const { stage, name, verdict, detail } of steps) {
    lines.push(`  ${stage.padEnd(12)} ${name.padEnd(22)} ${verdict}${detail === undefined ? '' : `: ${detail}`}`)
  }
  return [...lines, '']
}

const SPOKEN = { http1: 'HTTP/1.1', http2: 'HTTP/2', negotiated: 'HTTP/2 or HTTP/1.1, as the server chooses' } as const

function asItIs(message: string): string {
  return message
}

function formatOutcome(
  { outcome, upstream, spoken = 'http1', mcp, a2a }: Explanation,
  hide: (message: string) => string,
): string[] {
  if (outcome?.kind === 'refusal') {
    const status = refusalStatus(outcome)
    const detail = outcome.detail === undefined ? '' : `: ${outcome.detail}`
    return [`answer    ${status} ${outcome.body ?? REJECTIONS[outcome.code].text} (${outcome.code}${detail})`]
  }
  if (outcome?.kind === 'answer') {
    const body = typeof outcome.body === 'string' ? outcome.body : Buffer.from(outcome.body ?? []).toString()
    return [
      `answer    ${outcome.head.status}, made by the gateway`,
      ...indent(hide(outcome.head.writeResponse(0, -1, ''))),
      ...indent(body),
    ]
  }
  if (mcp !== undefined) return formatMcp(mcp)
  const sent = Buffer.from(upstream ?? '', 'latin1').toString()
  return [...formatA2a(a2a), `request to the backend, over ${SPOKEN[spoken]}`, ...indent(hide(sent))]
}

/** The requests that the gateway would make itself. */
function formatMcp({ method, requests, note }: McpExplanation): string[] {
  const lines = ['MCP, which ends at the gateway', `  ${method ?? 'message'}: ${note}`]
  for (const { target, method: verb, path, message } of requests) {
    lines.push(`  to ${target}: ${verb} ${path}`, `    ${JSON.stringify(message)}`)
  }
  return lines
}

function formatA2a(a2a: A2aExplanation | undefined): string[] {
  if (a2a === undefined || a2a.kind === 'other') return []
  if (a2a.kind === 'call') return [`A2A call of ${a2a.method}`, '']
  return [`A2A agent card; the root of the agent becomes ${a2a.cardBase} in it`, '']
}

function indent(text: string): string[] {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => `  ${line}`.trimEnd())
}
