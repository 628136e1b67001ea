import type { Finding } from '#base/finding.ts'
import { describeOrigin } from '#base/origin.ts'
import type { FileProblem } from './file-problem.ts'
import type { ObjectStore } from './store.ts'

/**
 * Findings with their places in the files, without those about objects that are refused: the errors of such an object are problems of its
 * file, and one cause is reported once.
 */
export function placeFindings(store: Pick<ObjectStore, 'locate'>, findings: readonly Finding[]): FileProblem[] {
  return findings.flatMap(({ origin, ...problem }) => {
    if (problem.code === 'object-refused') return []
    const { file = '', line } = origin
    const position = store.locate(origin, problem.path) ?? { file, ...(line === undefined ? {} : { line, column: 1 }) }
    const object = describeName(origin)
    return { ...problem, ...position, object, message: `${object}: ${problem.message}` }
  })
}

function describeName(origin: Finding['origin']): string {
  return describeOrigin({ kind: origin.kind, namespace: origin.namespace, name: origin.name })
}
