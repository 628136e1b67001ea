import { posix } from 'node:path'
import type { SourceFile } from '../architecture/source-tree.ts'

const FIELD_TESTS = /^api\/[\w-]+-fields\.test\.ts$/

/**
 * The tests of the fields of the API, for a file that declares some with `#schema`. They reach it by objects as users write them, through support
 * outside of `src/`.
 */
export function fieldTests(files: readonly SourceFile[], path: string): string[] {
  const declares = files.find((file) => file.path === path)?.edges.some(({ to }) => to === 'schema/index.ts') === true
  return declares ? files.map((file) => file.path).filter((each) => FIELD_TESTS.test(each)) : []
}

/**
 * Tests that run what `path` says, nearest first: by the number of imports between them, then by the folders they share.
 * Scenarios are left out, which run other processes.
 */
export function coveringTests(files: readonly SourceFile[], path: string, most: number): string[] {
  const importers = Map.groupBy(
    files.flatMap(({ path: from, edges }) => edges.filter(({ typeOnly }) => !typeOnly).map(({ to }) => ({ from, to }))),
    ({ to }) => to,
  )
  const distances = new Map([[path, 0]])
  for (const [file, distance] of distances) {
    for (const { from } of importers.get(file) ?? []) if (!distances.has(from)) distances.set(from, distance + 1)
  }
  return [...distances]
    .filter(([file]) => file.endsWith('.test.ts'))
    .toSorted(([a, distanceA], [b, distanceB]) => distanceA - distanceB || steps(path, a) - steps(path, b))
    .slice(0, most)
    .map(([file]) => file)
}

/** Folders that are left and entered between two files. */
function steps(from: string, to: string): number {
  return posix.relative(posix.dirname(from), to).split('/').length
}
