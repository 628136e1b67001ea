import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface ProjectText {
  /** Below the root of the project. */
  readonly path: string
  readonly text: string
}

const NOT_OURS = new Set(['package-lock.json', 'LICENSE'])
const LARGEST = 1_000_000

/** The text files that belong to the project: what git holds or would take. */
export function readProjectTexts(root: string): ProjectText[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root })
    .toString()
    .split('\0')
    .filter((path) => path !== '' && !NOT_OURS.has(path))
    .filter((path) => statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true)
    .filter((path) => statSync(join(root, path)).size < LARGEST)
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
}

/** One line for each line that the pattern is found in. */
export function findLines(texts: readonly ProjectText[], pattern: RegExp): string[] {
  return texts.flatMap(({ path, text }) =>
    pattern.test(text)
      ? text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []))
      : [],
  )
}
