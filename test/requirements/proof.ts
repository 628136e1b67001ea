import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { RequirementKind } from '#api/requirements/requirement.ts'
import { outline } from '../architecture/imports.ts'

/**
 * The strongest kind of requirement that a citation in a file can prove: a page proves `advice`, a schema test `shape`, any other test
 * `behaviour`.
 */
export class Proofs {
  readonly #root: string
  readonly #schemaSide = new Map<string, boolean>()

  constructor(root: string) {
    this.#root = root
  }

  of(file: string): RequirementKind {
    if (file.endsWith('.md')) return 'advice'
    return file.endsWith('.ts') && this.#isSchemaTest(file) ? 'shape' : 'behaviour'
  }

  /** A schema test runs nothing but schemas: whatever it imports is on the side of the schemas. */
  #isSchemaTest(file: string): boolean {
    return importsOf(this.#read(file), file).every((path) => this.#isSchemaSide(path))
  }

  /** The rooms `base`, `schema` and `api`, files elsewhere that define schemas, and support for tests that imports only these. */
  #isSchemaSide(path: string): boolean {
    const known = this.#schemaSide.get(path)
    if (known !== undefined) return known
    this.#schemaSide.set(path, true) // support files may import each other
    const is = this.#judge(path)
    this.#schemaSide.set(path, is)
    return is
  }

  #judge(path: string): boolean {
    if (/^src\/(?:base|schema|api)\//.test(path)) return true
    if (path.startsWith('src/')) return definesSchemas(this.#read(path))
    return path.startsWith('test/') && this.#isSchemaTest(path)
  }

  #read(file: string): string {
    return readFileSync(join(this.#root, file), 'utf8')
  }
}

/** Whether a source uses the builders of objects of `#schema/index.ts`: all fields are defined with them. */
export function definesSchemas(source: string): boolean {
  return /import \{[^}]*\b(?:object|openObject)\b[^}]*\} from '#schema\/index\.ts'/.test(source)
}

/** What a source imports at run time, below the root of the project; modules of Node are kept as they are, packages are left out. */
function importsOf(source: string, file: string): readonly string[] {
  return outline(source).imports.flatMap(({ specifier, typeOnly }) => {
    if (typeOnly) return []
    if (specifier.startsWith('node:')) return [specifier]
    if (specifier.startsWith('.')) return [posix.join(posix.dirname(file), specifier)]
    const [, folder, rest] = /^#(test|examples)\/(.*)$/.exec(specifier) ?? []
    if (folder !== undefined) return [`${folder}/${rest}`]
    return specifier.startsWith('#') ? [`src/${specifier.slice(1)}`] : []
  })
}
