import { posix } from 'node:path'
import type { SourceFile } from '../architecture/source-tree.ts'

const FIELD_TESTS = /^api\/[\w-]+-fields\.test\.ts$/

/** The tests of the fields of the API, for a file that declares some with `#schema`. They reach it from afar, by objects as users write them. */
export function fieldTests(files: readonly SourceFile[], path: string): string[] {
  const declares = files.find((file) => file.path === path)?.edges.some(({ to }) => to === 'schema/index.ts') === true
  return declares ? files.map((file) => file.path).filter((each) => FIELD_TESTS.test(each)) : []
}

/** Tests that run what `path` says: the one with its name, then the nearest, by the number of imports between them and the folders they share. */
export function coveringTests(files: readonly SourceFile[], path: string, most: number): string[] {
  const importers = Map.groupBy(
    files.flatMap((file) => importedBy(file).map((to) => ({ from: file.path, to }))),
    ({ to }) => to,
  )
  const distances = new Map([[path, 0]])
  for (const [file, distance] of distances) {
    for (const { from } of importers.get(file) ?? []) if (!distances.has(from)) distances.set(from, distance + 1)
  }
  return [...distances]
    .filter(([file]) => file.endsWith('.test.ts'))
    .toSorted(
      ([a, distanceA], [b, distanceB]) =>
        Number(isNamedAfter(path, b)) - Number(isNamedAfter(path, a)) ||
        distanceA - distanceB ||
        steps(path, a) - steps(path, b),
    )
    .slice(0, most)
    .map(([file]) => file)
}

function isNamedAfter(path: string, test: string): boolean {
  return test === path.replace(/\.ts$/, '.test.ts')
}

/** Files that run when the given one does, also outside of `src/`. */
function importedBy({ edges, imports }: SourceFile): string[] {
  const support = imports.filter(({ specifier, typeOnly }) => !typeOnly && specifier.startsWith('#test/'))
  return [
    ...edges.filter(({ typeOnly }) => !typeOnly).map(({ to }) => to),
    ...support.map(({ specifier }) => specifier.replace('#test/', '../test/')),
  ]
}

/** Folders that are left and entered between two files. */
function steps(from: string, to: string): number {
  return posix.relative(posix.dirname(from), to).split('/').length
}
