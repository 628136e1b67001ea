import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { type Outline, outline } from './imports.ts'

/** A file of `src/` with its imports. */
export interface SourceFile extends Outline {
  /** Below `src/`, with slashes. */
  readonly path: string
  readonly room: string
  /** A test, or support that only tests import (`testing.ts`, `testing/`). */
  readonly forTests: boolean
  readonly lines: number
  readonly edges: readonly Edge[]
}

/** An import of a file of `src/`. */
export interface Edge {
  readonly to: string
  readonly typeOnly: boolean
  readonly line: number
}

/** @param prefix of the paths, for a folder outside of `src/` */
export function readSourceTree(folder: string, prefix = ''): SourceFile[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'))
    .toSorted()
    .map((path) => describeSource(`${prefix}${path}`, readFileSync(join(folder, path), 'utf8')))
}

/** @param path below `src/` */
export function describeSource(path: string, text: string): SourceFile {
  const found = outline(text)
  return {
    ...found,
    path,
    room: roomOf(path),
    forTests: path.endsWith('.test.ts') || /(?:^|\/)testing(?:\.ts$|\/)/.test(path),
    lines: text.split('\n').length - 1,
    edges: found.imports.flatMap(({ specifier, typeOnly, line }) => {
      const to = resolve(path, specifier)
      return to === undefined ? [] : [{ to, typeOnly, line }]
    }),
  }
}

export function roomOf(path: string): string {
  return path.split('/')[0]!
}

/** @returns undefined for packages, modules of Node and files outside of `src/` */
function resolve(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return /^#(?:test|examples)\//.test(specifier) ? undefined : specifier.slice(1)
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined
}
