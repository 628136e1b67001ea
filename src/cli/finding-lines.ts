import type { Finding } from '#base/finding.ts'
import { describeOrigin } from '#base/origin.ts'
import { type FileProblem, formatProblem } from '#store/file-problem.ts'
import type { FileStore } from '#store/files.ts'

/**
 * Everything wrong with the objects of a store and with what they mean together, as lines for a terminal, by file and line; with
 * `advice` what is advised, too.
 */
export function findingLines(
  store: FileStore,
  findings: readonly Finding[],
  { advice = false }: { readonly advice?: boolean | undefined } = {},
): { readonly lines: string[] } & Readonly<Record<'errors' | 'warnings' | 'advised', number>> {
  const placed = [...store.problems(), ...findings.map((finding) => place(store, finding))].filter(
    ({ severity }) => advice || severity !== 'advice',
  )
  const count = (wanted: Finding['severity']) => placed.filter(({ severity }) => severity === wanted).length
  const sorted = placed.toSorted(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column || compare(a.code, b.code),
  )
  return {
    lines: sorted.map(formatFinding),
    errors: count('error'),
    warnings: count('warning'),
    advised: count('advice'),
  }
}

function place(store: FileStore, finding: Finding): FileProblem {
  const { origin, ...problem } = finding
  const position = store.locate(origin, problem.path) ?? { file: origin.file ?? '', line: origin.line ?? 1, column: 1 }
  return { ...problem, ...position, message: `${describeName(origin)}: ${problem.message}` }
}

function describeName(origin: Finding['origin']): string {
  return describeOrigin({ kind: origin.kind, namespace: origin.namespace, name: origin.name })
}

/** Further lines of a message (an expression and a caret under it) stand below the line that editors read. */
function formatFinding(problem: FileProblem): string {
  const [first = '', ...more] = problem.message.split('\n')
  return [formatProblem({ ...problem, message: first }), ...more.map((line) => `    ${line}`)].join('\n')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
