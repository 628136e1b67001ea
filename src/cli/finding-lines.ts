import { compareText } from '#base/compare-text.ts'
import { count } from '#base/count.ts'
import type { Finding } from '#base/finding.ts'
import { describeOrigin } from '#base/origin.ts'
import { type FileProblem, formatProblem } from '#store/file-problem.ts'
import type { FileStore } from '#store/files.ts'

/** Problems sorted by position, each as lines for a terminal, and the number of problems of each severity. */
export type ProblemLines = { readonly lines: string[]; readonly problems: readonly FileProblem[] } & Readonly<
  Record<'errors' | 'warnings' | 'advised', number>
>

interface LineOptions {
  /** Include advice. */
  readonly advice?: boolean | undefined
}

/** All problems of the files of a store and of the configuration in them. */
export function findingLines(store: FileStore, findings: readonly Finding[], options?: LineOptions): ProblemLines {
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

/**
 * Findings with their places in the files, without those about objects that are refused: the errors of such an object are problems of its
 * file, and one cause is reported once.
 */
export function placeFindings(store: FileStore, findings: readonly Finding[]): FileProblem[] {
  return findings.flatMap(({ origin, ...problem }) => {
    if (problem.code === 'object-refused') return []
    const { file = '', line } = origin
    const position = store.locate(origin, problem.path) ?? { file, ...(line === undefined ? {} : { line, column: 1 }) }
    return { ...problem, ...position, message: `${describeName(origin)}: ${problem.message}` }
  })
}

/** `1 error, 2 warnings`, `2 warnings`; `no problems` if there are none. */
export function countProblems({ errors, warnings }: Readonly<Record<'errors' | 'warnings', number>>): string {
  const counts = [errors > 0 ? [count(errors, 'error')] : [], warnings > 0 ? [count(warnings, 'warning')] : []].flat()
  return counts.join(', ') || 'no problems'
}

function describeName(origin: Finding['origin']): string {
  return describeOrigin({ kind: origin.kind, namespace: origin.namespace, name: origin.name })
}

/** Further lines of a message (an expression and a caret under it) follow the line that editors parse. */
function formatFinding(problem: FileProblem): string {
  const [first = '', ...more] = problem.message.split('\n')
  return [formatProblem({ ...problem, message: first }), ...more.map((line) => `    ${line}`)].join('\n')
}
