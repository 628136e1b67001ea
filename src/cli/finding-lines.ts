import { compareText } from '#base/compare-text.ts'
import { count } from '#base/count.ts'
import type { Finding } from '#base/finding.ts'
import { type FileProblem, formatProblem } from '#store/file-problem.ts'
import { placeFindings } from '#store/place-findings.ts'
import { CONSEQUENCES } from '#store/refused-policies.ts'
import type { CheckedObjects } from '#store/store.ts'

/** Problems sorted by position, each as lines for a terminal, and the number of problems of each severity. */
export type ProblemLines = { readonly lines: string[]; readonly problems: readonly FileProblem[] } & Readonly<
  Record<'errors' | 'warnings' | 'advised', number>
>

interface LineOptions {
  /** Include advice. */
  readonly advice?: boolean | undefined
}

/** All problems of the files of a store and of the configuration in them. */
export function findingLines(store: CheckedObjects, findings: readonly Finding[], options?: LineOptions): ProblemLines {
  return problemLines([...store.problems(), ...placeFindings(store, findings)], options)
}

/** Sorted by file and line. */
export function problemLines(problems: readonly FileProblem[], { advice = false }: LineOptions = {}): ProblemLines {
  const placed = problems.filter(({ severity }) => advice || severity !== 'advice')
  const number = (wanted: Finding['severity']) => placed.filter(({ severity }) => severity === wanted).length
  const sorted = placed.toSorted(
    (a, b) =>
      compareText(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      rank(a) - rank(b) ||
      compareText(a.code, b.code),
  )
  return {
    problems: sorted,
    lines: sorted.map(formatFinding),
    errors: number('error'),
    warnings: number('warning'),
    advised: number('advice'),
  }
}

/** At one position, a cause comes before what follows from it, and a field before the object. */
function rank({ code, path }: FileProblem): number {
  return Number(path === '') + Number(CONSEQUENCES.has(code))
}

/** `1 error, 2 warnings`, `2 warnings`; `no problems` if there are none. */
export function countProblems({ errors, warnings }: Readonly<Record<'errors' | 'warnings', number>>): string {
  const counts = [errors > 0 ? [count(errors, 'error')] : [], warnings > 0 ? [count(warnings, 'warning')] : []].flat()
  return counts.join(', ') || 'no problems'
}

/** Further lines of a message (an expression and a caret under it) follow the line that editors parse. */
function formatFinding(problem: FileProblem): string {
  const [first = '', ...more] = problem.message.split('\n')
  return [formatProblem({ ...problem, message: first }), ...more.map((line) => `    ${line}`)].join('\n')
}
