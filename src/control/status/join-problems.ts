import type { Finding } from '#base/finding.ts'
import { isOfKind } from '#base/findings.ts'
import { atProxies } from './socket-state.ts'

/** A problem that a proxy of another process found. */
export interface ProxyProblem extends Finding {
  readonly gateway: string
  readonly proxy: string
}

/**
 * Combines the findings of an object with the problems found while its policies were compiled (decision A-10). A policy is compiled once
 * for each of its targets, so duplicates are removed. Problems that only result from a broken reference are removed too.
 * @param ofProxies only those that are not found here as well remain; the message names the proxies
 */
export function joinProblems(
  findings: readonly Finding[],
  problems: readonly Finding[],
  ofProxies: readonly ProxyProblem[] = [],
): readonly Finding[] {
  const broken = new Set(findings.filter(({ code }) => isOfKind(code, 'reference')).map(({ path }) => path))
  const joined = new Map<string, Finding>()
  // Each port of a Service may report the same finding.
  for (const finding of findings) joined.set(identityOf(finding), finding)
  for (const problem of problems) {
    const identity = identityOf(problem)
    if (!joined.has(identity) && !isUnder(broken, problem)) joined.set(identity, problem)
  }
  const unknown = ofProxies.filter((problem) => !joined.has(identityOf(problem)) && !isUnder(broken, problem))
  return [...joined.values(), ...byGateway(unknown)]
}

/** One finding for all proxies of a Gateway that have the same problem. */
function byGateway(problems: readonly ProxyProblem[]): readonly Finding[] {
  const groups = Map.groupBy(problems, (problem) => `${problem.gateway} ${identityOf(problem)}`)
  return [...groups.values()].map((alike) => {
    const { proxy: _, ...finding } = alike[0]!
    return { ...finding, message: `${finding.message}${atProxies(alike)}` }
  })
}

function identityOf({ path, code, message }: Finding): string {
  return `${path} ${code} ${message}`
}

/** Whether the path of the problem, or a parent of it, is a broken reference. */
function isUnder(broken: ReadonlySet<string>, { path }: Finding): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    if (broken.has(path.slice(0, end))) return true
  }
  return false
}
