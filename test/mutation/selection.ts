import { isIn } from './areas.ts'

const GROUPS = ['core', 'elsewhere']

/**
 * Reads what the command line selects: `core`, `elsewhere`, files or folders, and lines of files as `file:line`. Paths are relative to `src/`, or begin with it.
 * @param paths all source files, below `src/`
 * @returns the selection with paths below `src/`, and the words that match no source file
 */
export function readSelection(words: readonly string[], paths: readonly string[]) {
  const selected = (words.length === 0 ? GROUPS : words).map((word) => word.replace(/^(\.\/)?src\//, ''))
  const unknown = selected.filter((word) => {
    const file = word.replace(/:\d+$/, '')
    return !GROUPS.includes(word) && !paths.some((path) => isIn([file], path))
  })
  return { selected, unknown }
}
