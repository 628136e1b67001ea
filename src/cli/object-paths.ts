import { UsageError } from './usage-error.ts'

/** Paths given with `-f`. */
export interface PathFlags {
  readonly file?: readonly string[]
}

/**
 * The paths of the objects: arguments, and values of `-f`.
 * @throws UsageError if there are none
 */
export function objectPaths(command: string, paths: readonly string[], { file = [] }: PathFlags): readonly string[] {
  const all = [...paths, ...file]
  if (all.length > 0) return all
  throw new UsageError(
    `${command} needs a file or folder with objects, such as: gatewright ${command} -f examples/quickstart`,
  )
}
