import { formatProblem } from './file-problem.ts'
import type { StaleFile } from './loaded-file.ts'

/** Why objects keep their last valid version: the problems of the newer one, or those of its file, by key of the object. */
export function refusedEdits(stale: readonly StaleFile[]): ReadonlyMap<string, string> {
  return new Map(
    stale.flatMap(({ objects, problems }) =>
      objects.map((key) => {
        const own = problems.filter(({ object }) => object === undefined || object.replace(' ', '/') === key)
        return [key, own.map(formatProblem).join('\n')] as const
      }),
    ),
  )
}
