import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { compareText } from '#base/compare-text.ts'
import { problem } from '#schema/index.ts'
import type { FileProblem } from './file-problem.ts'

const CONFIG_FILE = /\.(?:ya?ml|json)$/i

export interface FoundFiles {
  /** Sorted by path, without duplicates. */
  readonly files: readonly string[]
  readonly problems: readonly FileProblem[]
  /** A path contains a symbolic link, so a change may be reported under another name. */
  readonly isLinked: boolean
}

/** Finds the configuration files in the given files and directories. In directories, names that begin with a dot are ignored. */
export function findFiles(paths: readonly string[]): FoundFiles {
  const search: Search = { files: new Set(), problems: [], isLinked: false }
  for (const path of paths) collectGiven(path, search)
  return { files: [...search.files].sort(), problems: search.problems, isLinked: search.isLinked }
}

interface Search {
  readonly files: Set<string>
  readonly problems: FileProblem[]
  isLinked: boolean
}

/** Adds a path from the command line: a file is read whatever its extension, and a missing one is a problem. */
function collectGiven(path: string, search: Search): void {
  try {
    if (lstatSync(path).isSymbolicLink()) search.isLinked = true
    if (statSync(path).isDirectory()) collectFolder(path, new Set(), search)
    else search.files.add(path)
  } catch (error) {
    search.problems.push(fileProblem(path, error))
  }
}

/** @param above real paths of the parent directories, to detect cycles of links */
function collectFolder(path: string, above: ReadonlySet<string>, search: Search): void {
  const real = realpathSync(path)
  if (above.has(real)) return
  const within = new Set([...above, real])
  for (const entry of readdirSync(path, { withFileTypes: true }).sort(byName)) {
    if (entry.name.startsWith('.')) continue
    const inner = join(path, entry.name)
    try {
      if (isFolder(inner, entry, search)) collectFolder(inner, within, search)
      else if (CONFIG_FILE.test(inner)) search.files.add(inner)
    } catch (error) {
      // A file that disappears between listing and reading is ignored; only paths from the command line must exist.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') search.problems.push(fileProblem(inner, error))
    }
  }
}

function byName(a: Dirent, b: Dirent): number {
  return compareText(a.name, b.name)
}

/** Most file systems report the type in the listing. */
function isFolder(path: string, entry: Dirent, search: Search): boolean {
  if (entry.isFile()) return false
  if (entry.isDirectory()) return true
  if (entry.isSymbolicLink()) search.isLinked = true
  return statSync(path).isDirectory()
}

/** Converts a file system error to a problem of the file. */
export function fileProblem(file: string, error: unknown): FileProblem {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return { ...problem('', 'file-missing', 'no such file or directory'), file }
  const reason = code === 'EACCES' ? 'permission denied' : (message ?? String(error))
  return { ...problem('', 'file-unreadable', `cannot be read: ${reason}`), file }
}
