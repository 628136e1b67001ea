import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { causeOf } from '#apiserver/kinds/causes.ts'
import type { FileProblem } from '#store/file-problem.ts'
import { parseObjects } from '#store/parse-yaml.ts'

const ROOT = fileURLToPath(new URL('.', import.meta.url))

/** What is wrong with a document: what `lint` says of it, and the text of an API server. */
export interface Refusal {
  readonly path: string
  readonly code: string
  readonly line: number
  readonly text: string
}

/** A document that must be refused. */
export interface InvalidDocument {
  /** `proxy-policy/no-target.yaml` */
  readonly name: string
  readonly text: string
  /** The header of the document, which says what is wrong with it: four comment lines for each problem. */
  readonly expected: readonly Refusal[]
}

const HEADER = /^(?:#.*\n)+/
const REFUSAL = /# path: ?(.*)\n# code: (.*)\n# line: (.*)\n# text: (.*)\n/g

/**
 * All documents below this folder. `UPDATE=1 npx vitest run test/invalid` rewrites their headers with what comes out; review the
 * difference as you would code.
 */
export function invalidDocuments(): readonly InvalidDocument[] {
  return globSync('**/*.yaml', { cwd: ROOT, exclude: ['api-only/*'] })
    .sort()
    .map((name) => {
      const text = readFileSync(`${ROOT}${name}`, 'utf8')
      const [header = ''] = HEADER.exec(text) ?? []
      const expected = [...header.matchAll(REFUSAL)].map(([, path = '', code = '', line, refusal = '']) => ({
        path,
        code,
        line: Number(line),
        text: refusal,
      }))
      return { name, text, expected }
    })
}

/** What `lint` says of a document. */
export function refusalsOf({ name, text }: InvalidDocument): readonly (FileProblem & { readonly text: string })[] {
  return parseObjects(text, name).problems.map((problem) => ({ ...problem, text: causeOf(problem).message }))
}

/** Writes what comes out into the header of a document. */
export function rewriteHeader(document: InvalidDocument): void {
  const { name, text } = document
  const body = text.replace(HEADER, '')
  const before = (HEADER.exec(text) ?? [''])[0].split('\n').length
  const after = 1 + 4 * refusalsOf(document).length
  const header = refusalsOf(document).map(
    ({ path, code, line, text: refusal }) =>
      `# path: ${path}\n# code: ${code}\n# line: ${line! + after - before}\n# text: ${refusal}\n`,
  )
  writeFileSync(`${ROOT}${name}`, header.join('').replaceAll(': \n', ':\n') + body)
}
