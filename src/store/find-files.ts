import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { problem } from '#schema/index.ts'
import type { FileProblem } from './file-problem.ts'

const CONFIG_FILE = /\.(?:ya?ml|json)$/

export interface FoundFiles {
  /** In order of their paths, without doubles. */
  readonly files: readonly string[]
  readonly problems: readonly FileProblem[]
}

/** The configuration files under the given files and directories. Names that begin with a dot are passed over in directories. */
export function findFiles(paths: readonly string[]): FoundFiles {
  const files = new Set<string>()
  const problems: FileProblem[] = []
  for (const path of paths) collect(path, { files, problems, given: true, above: new Set() })
  return { files: [...files].sort(), problems }
}

interface Search {
  readonly files: Set<string>
  readonly problems: FileProblem[]
  /** Named by the user: read whatever its ending, and missed when it is not there. */
  readonly given: boolean
  /** Real paths of the directories above, against circles of links. */
  readonly above: ReadonlySet<string>
}

function collect(path: string, search: Search): void {
  try {
    if (!statSync(path).isDirectory()) {
      if (search.given || CONFIG_FILE.test(path)) search.files.add(path)
      return
    }
    const real = realpathSync(path)
    if (search.above.has(real)) return
    const above = new Set([...search.above, real])
    for (const name of readdirSync(path).sort()) {
      if (!name.startsWith('.')) collect(join(path, name), { ...search, given: false, above })
    }
  } catch (error) {
    const vanished = (error as NodeJS.ErrnoException).code === 'ENOENT'
    // A file that goes away between listing and looking is not there; only what the user named is missed.
    if (vanished && !search.given) return
    search.problems.push(fileProblem(path, error))
  }
}

/** What the operating system said about a file, as a problem of that file. */
export function fileProblem(file: string, error: unknown): FileProblem {
  const { code, message } = error as NodeJS.ErrnoException
  const at = { file, line: 1, column: 1 }
  if (code === 'ENOENT') return { ...problem('', 'file-missing', 'no such file or directory'), ...at }
  const reason = code === 'EACCES' ? 'permission denied' : (message ?? String(error))
  return { ...problem('', 'file-unreadable', `cannot be read: ${reason}`), ...at }
}
