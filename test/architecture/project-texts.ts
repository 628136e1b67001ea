import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export interface ProjectText {
  /** Below the root of the project. */
  readonly path: string
  readonly text: string
}

const NOT_OURS = new Set(['node_modules', 'dist', 'package-lock.json', 'LICENSE', 'coverage'])
const OUR_HIDDEN = new Set(['.ci', '.github', '.gitignore'])
const LARGEST = 1_000_000

/** The text files of the project, except third-party and generated ones. */
export function readProjectTexts(root: string, folder = ''): ProjectText[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name) && (!name.startsWith('.') || OUR_HIDDEN.has(name)))
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) return readProjectTexts(root, path)
      return entry.isFile() ? readText(root, path) : []
    })
}

/** One result for each line that the pattern matches. */
export function findLines(texts: readonly ProjectText[], pattern: RegExp): string[] {
  return texts.flatMap(({ path, text }) =>
    pattern.test(text)
      ? text.split('\n').flatMap((line, index) => (pattern.test(line) ? [describeLine(path, index + 1, line)] : []))
      : [],
  )
}

function readText(root: string, path: string): ProjectText[] {
  const file = join(root, path)
  if (statSync(file).size > LARGEST) return []
  const text = readFileSync(file, 'utf8')
  return text.includes('\0') ? [] : [{ path, text }]
}

function describeLine(path: string, line: number, text: string): string {
  return `${path}:${line} ${text.trim().slice(0, 120)}`
}
