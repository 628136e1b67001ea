import type { Finding } from '#base/finding.ts'
import type { Origin } from '#base/origin.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import { assembleTranslation } from './assemble-translation.ts'
import { REFERENCE_CODES } from './finding-code.ts'
import { observedFindings } from './observed-findings.ts'
import type { Binding, Translation } from './translation.ts'

/**
 * Adds what showed when the policies of the plan were compiled (decision A-10). The same policy is compiled for many places; what it
 * finds each time counts once, and what is only the consequence of a reference that leads nowhere is not told again.
 */
export function withCompileProblems(translation: Translation, problems: readonly Finding[]): Translation {
  const known = new Set(translation.findings.map(identityOf))
  const broken = new Set(translation.findings.filter(isReference).map(placeOf))
  const added: Finding[] = []
  for (const problem of problems) {
    const identity = identityOf(problem)
    if (known.has(identity) || isUnder(broken, problem)) continue
    known.add(identity)
    added.push(problem)
  }
  if (added.length === 0) return translation
  const { items, facts, bindings } = translation
  return assembleTranslation({ items, facts, bindings, findings: [...translation.findings, ...added] })
}

/** Says which listeners take connections (decision A-34). */
export function withBindings(translation: Translation, bindings: ReadonlyMap<string, Binding>): Translation {
  const { items, facts, findings } = translation
  return assembleTranslation({ items, facts, findings, bindings })
}

/** Says what traffic has shown about backends. */
export function withObserved(translation: Translation, observed: readonly BackendFact[]): Translation {
  if (observed.length === 0) return translation
  const { items, facts, findings, bindings } = translation
  return assembleTranslation({
    items,
    facts,
    bindings,
    findings: [...findings, ...observedFindings(items, observed)],
  })
}

function objectOf({ kind, namespace, name }: Origin): string {
  return `${kind}/${namespace}/${name}`
}

function placeOf({ origin, path }: Finding): string {
  return `${objectOf(origin)} ${path}`
}

function identityOf({ origin, path, code, message }: Finding): string {
  return `${objectOf(origin)} ${path} ${code} ${message}`
}

function isReference({ code }: Finding): boolean {
  return (REFERENCE_CODES as readonly string[]).includes(code)
}

/** Whether a broken reference stands at the path of the problem or above it. */
function isUnder(broken: ReadonlySet<string>, { origin, path }: Finding): boolean {
  const object = objectOf(origin)
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    if (broken.has(`${object} ${path.slice(0, end)}`)) return true
  }
  return false
}
