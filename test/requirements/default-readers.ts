import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { definesSchemas } from './proof.ts'
import { tokenize } from './tokens.ts'

/** Where the code of a field is, by the beginning of its area; the first line that fits counts. `*` is the name of the policy in kebab-case. */
const ROOMS: readonly (readonly [area: RegExp, folders: readonly string[]])[] = [
  [/^backend\.ai\b/, ['protocols/llm']],
  [/^backend\.mcp\b/, ['protocols/mcp', 'control/backends']],
  [/^traffic\.jwtAuthentication\.jwks$/, ['engine/merge']],
  [/^(traffic|frontend|backend)\.(\w+)/, ['policies/$1/*', 'policies/shared']],
  [/^health$/, ['policies/backend/health']],
  [/^traffic$/, ['control/policies', 'engine/merge']],
  [/^parameters\b/, ['control', 'instance', 'cli', 'deploy']],
  [/./, ['policies/shared']],
]

/** The field whose default an id is about: `maxBufferSize` of `frontend.http/maxBufferSize-default`; undefined for other ids. */
export function fieldOfDefault(id: string): string | undefined {
  return /\/([^/]+?)-default(?:-[^/]*)?$/.exec(id)?.[1]
}

/** Whether code outside of schemas and tests, in the folders of the field, reads it. @param root of the project */
export function isDefaultRead(root: string, id: string): boolean {
  const field = fieldOfDefault(id)
  return (
    field !== undefined && foldersOf(id).some((folder) => readersIn(root, folder).some((names) => names.has(field)))
  )
}

function foldersOf(id: string): readonly string[] {
  for (const [area, folders] of ROOMS) {
    const found = area.exec(id.slice(0, id.indexOf('/')))
    if (found === null) continue
    const [, section = '', field = ''] = found
    const policy = field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return folders.map((folder) => folder.replace('$1', section).replace('*', policy))
  }
  return []
}

const READERS = new Map<string, readonly ReadonlySet<string>[]>()

/** The names of members that the files of a folder read. */
function readersIn(root: string, folder: string): readonly ReadonlySet<string>[] {
  const known = READERS.get(folder)
  if (known !== undefined) return known
  const files = globSync(`src/${folder}/**/*.ts`, { cwd: root }).filter((file) => !/\.test\.ts$|testing/.test(file))
  const sources = files.map((file) => readFileSync(join(root, file), 'utf8'))
  const read = sources.filter((source) => !definesSchemas(source)).map(membersRead)
  READERS.set(folder, read)
  return read
}

/** Names behind a dot, and names that a pattern in braces takes apart. */
export function membersRead(source: string): ReadonlySet<string> {
  const tokens = tokenize(source)
  const names = tokens.filter(({ kind }, at) => {
    if (kind !== 'name') return false
    const before = tokens[at - 1]?.text ?? ''
    const after = tokens[at + 1]?.text ?? ''
    return before === '.' || (/^[{,]$/.test(before) && /^[},:=]$/.test(after))
  })
  return new Set(names.map(({ text }) => text))
}
