import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isCollection, parseDocument, visit } from 'yaml'

/** What comes of a case: parts by name, each a list or a map. */
export type GoldenParts = Readonly<Record<string, Readonly<Record<string, unknown>> | readonly unknown[]>>

/** One case of a folder: what is given, written by hand, and what comes of it. */
export interface GoldenCase {
  readonly name: string
  readonly description: string
  readonly given: readonly unknown[]
  readonly expected: GoldenParts
  /** The parts of a result that the case shows. */
  select(actual: GoldenParts): GoldenParts
  /** Writes what the case shows of a result into its file; the rest of the file stays as it is. */
  rewrite(actual: GoldenParts): void
}

/**
 * True when cases are to be rewritten with what comes out: `UPDATE=1 npx vitest run test/cases`, then `npm run format`. Review the
 * difference like code.
 */
export const isUpdate = process.env.UPDATE === '1'

/** Reads the cases of a folder, in the order of their names. */
export function readCases(folder: string): readonly GoldenCase[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => readCase(join(folder, file), file.replace('.yaml', '')))
}

interface CaseFile {
  readonly description: string
  /** Requirements that the case proves; the coverage test reads them from the file. */
  readonly verifies?: readonly string[]
  /** `plan`: the whole part; `plan/Policy`: its entries whose keys start so. */
  readonly shows: readonly string[]
  readonly given: readonly unknown[]
}

function readCase(path: string, name: string): GoldenCase {
  const document = parseDocument(readFileSync(path, 'utf8'))
  const { description, verifies: _, shows, given, ...expected } = document.toJS() as CaseFile & GoldenParts
  const select = (actual: GoldenParts) => selectParts(shows, actual)
  return {
    name,
    description,
    given,
    expected: expected as GoldenParts,
    select,
    rewrite(actual) {
      for (const part of Object.keys(expected)) document.delete(part)
      for (const [part, value] of Object.entries(select(actual))) document.set(part, document.createNode(value))
      visit(document, { Collection: (_, node, ancestors) => compact(node, ancestors.length) })
      writeFileSync(path, document.toString({ lineWidth: 120 }))
    },
  }
}

function selectParts(shows: readonly string[], actual: GoldenParts): GoldenParts {
  const selected: Record<string, GoldenParts[string]> = {}
  for (const show of shows) {
    const [part = '', ...prefix] = show.split('/')
    const value = actual[part]
    if (value === undefined) throw new Error(`there is no part ${part}`)
    selected[part] = prefix.length === 0 ? value : { ...selected[part], ...entriesUnder(value, prefix.join('/')) }
  }
  return selected
}

function entriesUnder(part: object, prefix: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(part).filter(([key]) => key.startsWith(prefix)))
}

/** One line for each entry of a part, unless the author wrote it otherwise. */
function compact(node: unknown, depth: number): void {
  const entryDepth = 5
  if (isCollection(node) && node.range == null) node.flow = depth >= entryDepth
}
