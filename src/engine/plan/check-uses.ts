import type { ConfigProblem } from '#base/config-problem.ts'
import type { BackendItem, RouteItem } from '#plan/item.ts'
import { backendSettings, bindProtocol } from '../backend/bind-protocol.ts'
import { mergeForBackend } from '../backend/merge-for-backend.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { listenerTargets, ruleTargets } from '../route/live-listener.ts'

/** A backend with the targets outside of it whose policies apply to it, as one rule or several rules use it at their listeners. */
export interface Use {
  /** Key of the backend. */
  readonly backend: string
  /** Targets with policies for backends, weakest first. */
  readonly targets: readonly string[]
}

/** The different uses of backends by a rule at its listeners, by key. Targets without policies for backends make no difference. */
export function usesOfRule(rule: RouteItem, lookups: Lookups): ReadonlyMap<string, Use> {
  const uses = new Map<string, Use>()
  if (rule.backends.length === 0) return uses
  const applies = (target: string) => lookups.policiesAt(target).some(({ section }) => section === 'backend')
  const own = ruleTargets(rule).filter(applies)
  for (const { listener } of rule.attachments) {
    const item = lookups.item(listener)
    const targets = [...(item?.kind === 'listener' ? listenerTargets(item).filter(applies) : []), ...own]
    for (const { backend } of rule.backends) {
      if (backend !== undefined) uses.set(`${backend} ${targets.join(' ')}`, { backend, targets })
    }
  }
  return uses
}

/** Paths of a rule that belong to another interface than the one that a backend is configured for. */
export function misreadPaths(rule: RouteItem, uses: Iterable<Use>, lookups: Lookups): readonly ConfigProblem[] {
  const problems = new Map<string, ConfigProblem>()
  for (const { backend, targets } of uses) {
    const item = lookups.item(backend)
    if (item?.kind !== 'backend') continue
    for (const [index, { path }] of rule.matches.entries()) {
      if (path.type === 'RegularExpression') continue
      // A prefix has the same meaning with and without a trailing slash (Gateway API, HTTPPathMatch).
      const value = path.type === 'PathPrefix' ? path.value.replace(/\/$/, '') : path.value
      const problem = misreadPath(item, targets, value, lookups)
      if (problem === undefined) continue
      const at = `spec.rules[${rule.rule}].matches[${index}].path.value`
      problems.set(`${at} ${problem.message}`, { ...problem, path: at })
    }
  }
  return [...problems.values()]
}

function misreadPath(
  item: BackendItem,
  targets: readonly string[],
  path: string,
  lookups: Lookups,
): Omit<ConfigProblem, 'path'> | undefined {
  const settings = backendSettings((section) => mergeForBackend(targets, item, section, lookups).fields)
  const misread = bindProtocol(item).misread(settings, path)
  if (misread === undefined) return undefined
  const message =
    `ProxyBackend ${item.namespace}/${item.name} handles and counts these requests as chat completions, because its backend.ai.routes is unset; ` +
    `set it for each kind of path, such as { /chat/completions: Completions, ${misread.end}: ${misread.type} }`
  return { code: 'llm-path-not-completions', message, severity: 'warning' }
}
