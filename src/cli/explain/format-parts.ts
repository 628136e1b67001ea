import type {
  DescribedBackend,
  DescribedEndpoint,
  DescribedEviction,
  DescribedListener,
  DescribedPolicy,
  DescribedRule,
  DescribedSource,
  Placed,
} from './described-explanation.ts'

// Common parts of explanations of requests and of connections, as lines of text.

/** Source position, in parentheses; empty for objects that are not from files. */
function placeText({ file, line }: Placed): string {
  return file === undefined ? '' : ` (${file}:${line})`
}

export function formatListener(listener: DescribedListener | undefined): string[] {
  if (listener === undefined) return ['listener  no listener matches this host', '']
  const { name, object, protocol, address, port, hostname } = listener
  const host = hostname === '' ? 'any host' : `host ${hostname}`
  return [`listener  ${name} of ${object}, ${protocol} ${address}:${port}, ${host}${placeText(listener)}`, '']
}

/** A rule by route, number and name. */
export function ruleText(rule: DescribedRule): string {
  const name = rule.ruleName === undefined ? `rule ${rule.rule}` : `rule ${rule.rule} (${rule.ruleName})`
  return `${rule.object}, ${name}${placeText(rule)}`
}

export function formatPolicies(policies: readonly DescribedPolicy[]): string[] {
  if (policies.length === 0) return ['policies  none', '']
  const lines = ['effective policies, and the policies they override']
  for (const { field, writtenAs = field, phase, sources, overridden } of policies) {
    lines.push(`  ${writtenAs}${phase === 'PreRouting' ? ' (PreRouting)' : ''}`)
    for (const source of sources) lines.push(`      set by ${sourceText(source)}`)
    for (const loser of overridden) lines.push(`      over   ${sourceText(loser)}`)
  }
  return [...lines, '']
}

function sourceText(source: DescribedSource): string {
  return `${source.object} ${source.path}, level ${source.level}${placeText(source)}`
}

/** The addresses of a name are judged when they are dialled (decision A-96). */
const NAMED = ' (named by the request; its address is checked when it is dialled)'

export function formatBackend(
  backends: readonly DescribedBackend[],
  endpoints: readonly DescribedEndpoint[],
): string[] {
  if (backends.length === 0) return []
  const lines = ['backend']
  for (const { key, weight, chosen } of backends) {
    const share = backends.length === 1 ? '' : `, weight ${weight}`
    lines.push(`  ${chosen ? '>' : ' '} ${key}${share}`)
  }
  const groups = new Set(endpoints.map(({ priority }) => priority)).size
  for (const { label, section, priority, chosen, unfit, named, ...settings } of endpoints) {
    const { meshPod, maxConnections, maxWaiting, eviction } = settings
    const group = groups > 1 ? `, priority ${priority}` : ''
    lines.push(
      `    ${chosen ? '>' : ' '} ${label}${section === undefined ? '' : ` (${section})`}${group}${named === true ? NAMED : ''}`,
    )
    if (meshPod !== undefined) lines.push(`      via tunnel to pod ${meshPod.name} as ${meshPod.identity}`)
    if (unfit !== undefined)
      lines.push(`      cannot take the request: ${[unfit.code, unfit.detail ?? []].flat().join(', ')}`)
    if (eviction !== undefined) lines.push(`      ${evictionText(eviction)}`)
    if (maxConnections === undefined) continue
    lines.push(`      at most ${maxConnections} connections and ${maxWaiting} queued requests in each worker`)
  }
  return [...lines, '']
}

/** The states of an endpoint and what moves it between them (specification 1, section 3). */
function evictionText({ consecutiveFailures, healthThreshold, durationMs, restoreHealth }: DescribedEviction): string {
  const causes = [
    consecutiveFailures !== undefined && consecutiveFailures > 0 && failuresText(consecutiveFailures),
    healthThreshold !== undefined && `an unhealthy response that leaves a health below ${healthThreshold}`,
    consecutiveFailures === undefined && healthThreshold === undefined && failuresText(1),
  ].filter((cause) => cause !== false)
  if (causes.length === 0) return 'never evicted: consecutiveFailures is 0'
  const time = `for ${durationMs / 1000} s times the number of evictions so far`
  return `is evicted after ${causes.join(' or ')}, ${time}; returns with ${restoreHealth === undefined ? 'the health that it had' : `health ${restoreHealth}`}`
}

function failuresText(count: number): string {
  return count === 1 ? 'an unhealthy response' : `${count} consecutive unhealthy responses`
}
