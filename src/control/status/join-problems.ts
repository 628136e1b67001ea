import type { Finding } from '#base/finding.ts'
import { isOfKind } from '#base/findings.ts'

/**
 * Adds to the findings in an object what showed when its policies were compiled (decision A-10). The same policy is compiled for many
 * places; what it finds each time counts once, and what is only the consequence of a reference that leads nowhere is not told again.
 */
export function joinProblems(findings: readonly Finding[], problems: readonly Finding[]): readonly Finding[] {
  const broken = new Set(findings.filter(({ code }) => isOfKind(code, 'reference')).map(({ path }) => path))
  const joined = new Map<string, Finding>()
  // Several ports of a Service say the same thing about it.
  for (const finding of findings) joined.set(identityOf(finding), finding)
  for (const problem of problems) {
    const identity = identityOf(problem)
    if (!joined.has(identity) && !isUnder(broken, problem)) joined.set(identity, problem)
  }
  return [...joined.values()]
}

function identityOf({ path, code, message }: Finding): string {
  return `${path} ${code} ${message}`
}

/** Whether a broken reference stands at the path of the problem or above it. */
function isUnder(broken: ReadonlySet<string>, { path }: Finding): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    if (broken.has(path.slice(0, end))) return true
  }
  return false
}
