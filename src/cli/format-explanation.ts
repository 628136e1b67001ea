import type { Origin } from '#base/origin.ts'
import { REJECTIONS } from '#base/rejections.ts'
import type { EffectivePolicy, Explanation } from '#engine/explain.ts'
import { describePath } from '#engine/route/candidate.ts'
import { refusalStatus } from '#exchange/outcome.ts'
import type { TraceStep } from '#exchange/trace.ts'
import type { PolicyItem } from '#plan/item.ts'
import type { A2aExplanation } from '#protocols/a2a/explain-a2a.ts'
import type { McpExplanation } from '#protocols/mcp/explain-mcp.ts'
import type { FileStore } from '#store/files.ts'

export interface ExplanationText {
  readonly method: string
  readonly url: URL
  readonly explanation: Explanation
  readonly store: FileStore
}

/** An explanation for a person: top-down, in the order in which a request meets things. */
export function formatExplanation({ method, url, explanation, store }: ExplanationText): string {
  const where = (origin: Origin, path: string) => position(store, origin, path)
  return [
    `${method} ${url}`,
    '',
    ...formatListener(explanation, where),
    ...formatRoute(explanation, where),
    ...formatPolicies(explanation.policies, where),
    ...formatSteps(explanation.steps),
    ...formatBackend(explanation),
    ...formatOutcome(explanation),
  ].join('\n')
}

type Where = (origin: Origin, path: string) => string

/** `policies.yaml:12` of a field, or nothing for objects that came from elsewhere. */
function position(store: FileStore, origin: Origin, path: string): string {
  const found = store.locate(origin, path)
  if (found !== undefined) return ` (${found.file}:${found.line})`
  return origin.file === undefined ? '' : ` (${origin.file}:${origin.line ?? 1})`
}

function nameOf({ kind, namespace, name }: Origin): string {
  return `${kind} ${namespace}/${name}`
}

function formatListener({ listener }: Explanation, where: Where): string[] {
  if (listener === undefined) return ['listener  none takes this host', '']
  const host = listener.hostname === '' ? 'any host' : `host ${listener.hostname}`
  return [
    `listener  ${listener.name} of ${nameOf(listener.origin)}, ${listener.protocol} ${listener.address}:${listener.port}, ${host}${where(listener.origin, 'spec.listeners')}`,
    '',
  ]
}

const MISSES_SHOWN = 12

function formatRoute({ route, nearMisses }: Explanation, where: Where): string[] {
  const lines: string[] = []
  if (route === undefined) lines.push('route     none matches')
  else {
    const { item, match } = route
    const rule = item.ruleName === undefined ? `rule ${item.rule}` : `rule ${item.rule} (${item.ruleName})`
    lines.push(`route     ${nameOf(item.origin)}, ${rule}${where(item.origin, `spec.rules[${item.rule}]`)}`)
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

function formatPolicies(policies: readonly EffectivePolicy[], where: Where): string[] {
  if (policies.length === 0) return ['policies  none', '']
  const lines = ['policies in force, and what they override']
  for (const { section, phase, field, sources, overridden } of policies) {
    lines.push(`  ${section}.${field}${phase === 'PreRouting' ? ' (PreRouting)' : ''}`)
    for (const source of sources) lines.push(`      set by ${describeSource(source, where)}`)
    for (const loser of overridden) lines.push(`      over   ${describeSource(loser, where)}`)
  }
  return [...lines, '']
}

function describeSource(item: PolicyItem, where: Where): string {
  return `${nameOf(item.origin)} ${item.path}, level ${item.level}${where(item.origin, item.path)}`
}

function formatSteps(steps: readonly TraceStep[]): string[] {
  if (steps.length === 0) return ['steps     none', '']
  const lines = ['steps, in the order in which they ran']
  for (const { stage, name, verdict, detail } of steps) {
    lines.push(`  ${stage.padEnd(12)} ${name.padEnd(22)} ${verdict}${detail === undefined ? '' : `: ${detail}`}`)
  }
  return [...lines, '']
}

function formatBackend({ backends, endpoints }: Explanation): string[] {
  if (backends.length === 0) return []
  const lines = ['backend']
  for (const { key, weight, chosen } of backends) {
    const share = backends.length === 1 ? '' : `, weight ${weight}`
    lines.push(`  ${chosen ? '>' : ' '} ${key}${share}`)
  }
  const groups = new Set(endpoints.map(({ priority }) => priority)).size
  for (const { label, section, priority, chosen } of endpoints) {
    const group = groups > 1 ? `, priority ${priority + 1}` : ''
    lines.push(`    ${chosen ? '>' : ' '} ${label}${section === undefined ? '' : ` (${section})`}${group}`)
  }
  return [...lines, '']
}

function formatOutcome({ outcome, upstream, mcp, a2a }: Explanation): string[] {
  if (outcome?.kind === 'refusal') {
    const status = refusalStatus(outcome)
    const detail = outcome.detail === undefined ? '' : `: ${outcome.detail}`
    return [`answer    ${status} ${outcome.body ?? REJECTIONS[outcome.code].text} (${outcome.code}${detail})`]
  }
  if (outcome?.kind === 'answer') {
    const body = typeof outcome.body === 'string' ? outcome.body : Buffer.from(outcome.body ?? []).toString()
    return [
      `answer    ${outcome.head.status}, made by the gateway`,
      ...indent(outcome.head.writeResponse(0, -1, '')),
      ...indent(body),
    ]
  }
  if (mcp !== undefined) return formatMcp(mcp)
  const sent = Buffer.from(upstream ?? '', 'latin1').toString()
  return [...formatA2a(a2a), 'request to the backend', ...indent(sent)]
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
