import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { RequirementKind } from '#api/requirements/requirement.ts'
import { Proofs } from './proof.ts'
import { type Token, tokenize } from './tokens.ts'

/** A place where a test, or a page for readers, says which requirement it proves. */
export interface Citation {
  readonly id: string
  /** The strongest kind of requirement that the place can prove. */
  readonly proves: RequirementKind
  /** Relative to the root of the project, with forward slashes. */
  readonly file: string
  /** Counted from 1. */
  readonly line: number
}

/** A place that should cite requirements and does so in a form that cannot be read from the source text. */
export interface Unreadable {
  readonly file: string
  readonly line: number
  readonly message: string
}

export interface Scan {
  readonly citations: readonly Citation[]
  readonly unreadable: readonly Unreadable[]
}

const TESTS = ['{src,test,examples}/**/*.test.ts', '{src,test,examples}/**/scenarios/**/*.ts']
const CASES = ['{src,test,examples}/**/cases/**/*.yaml']
const PAGES = ['{docs,examples}/**/*.md']

/**
 * All citations below `root`: `verifies` calls of test and scenario files, the key `verifies` of golden cases, and comments `verifies` of
 * pages.
 */
export function scanCitations(root: string): Scan {
  const proofs = new Proofs(root)
  const scans = [
    ...filesOf(root, TESTS).flatMap((file) => {
      const source = read(root, file)
      // Most files cite nothing, and it takes long to read the tokens of all.
      return source.includes('verifies') ? [citationsOfTest(source, file, proofs.of(file))] : []
    }),
    ...filesOf(root, CASES).map((file) => citationsOfCase(read(root, file), file)),
    ...filesOf(root, PAGES).map((file) => citationsOfPage(read(root, file), file)),
  ]
  return {
    citations: scans.flatMap((scan) => scan.citations),
    unreadable: scans.flatMap((scan) => scan.unreadable),
  }
}

function filesOf(root: string, patterns: readonly string[]): readonly string[] {
  const files = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] })
  return [...new Set(files.map((file) => file.replaceAll('\\', '/')))].sort()
}

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** The ids in calls `verifies('id', ...)` and `verifies(['id', 'id'], ...)` of a TypeScript source. */
export function citationsOfTest(source: string, file: string, proves: RequirementKind): Scan {
  const citations: Citation[] = []
  const unreadable: Unreadable[] = []
  const tokens = tokenize(source)
  for (const [at, token] of tokens.entries()) {
    if (!isCall(tokens, at)) continue
    const ids = idsOfArgument(tokens, at + 2)
    if (ids === undefined) unreadable.push({ file, line: token.line, message: 'verifies takes its ids as literals' })
    else citations.push(...ids.map((id) => ({ id: id.text, proves, file, line: id.line })))
  }
  return { citations, unreadable }
}

function isCall(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]
  if (token?.kind !== 'name' || token.text !== 'verifies' || tokens[at + 1]?.text !== '(') return false
  const before = tokens[at - 1]?.text
  return before !== 'function' && before !== '.'
}

/** The string tokens of the first argument, or undefined when it is not one literal or a list of at least one. */
function idsOfArgument(tokens: readonly Token[], at: number): readonly Token[] | undefined {
  const first = tokens[at]
  if (first?.kind === 'string') return tokens[at + 1]?.text === ',' ? [first] : undefined
  if (first?.text !== '[') return undefined

  const ids: Token[] = []
  for (let next = at + 1; ; next += 2) {
    const id = tokens[next]
    if (id?.kind !== 'string') return id?.text === ']' && ids.length > 0 ? ids : undefined
    ids.push(id)
    const after = tokens[next + 1]
    if (after?.text === ']') return ids
    if (after?.text !== ',') return undefined
  }
}

/** The ids under the top-level key `verifies` of a golden case; most files of a folder `cases` have none. */
export function citationsOfCase(text: string, file: string): Scan {
  const key = /^verifies:/m.exec(text)
  if (key === null) return { citations: [], unreadable: [] }
  const line = text.slice(0, key.index).split('\n').length

  const lists = parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) return undefined
    const value: unknown = document.toJS()
    return value !== null && typeof value === 'object' && 'verifies' in value ? value.verifies : []
  })
  if (!lists.every(isStringList)) {
    return { citations: [], unreadable: [{ file, line, message: 'verifies is a list of ids' }] }
  }
  return { citations: lists.flat().map((id) => ({ id, proves: 'behaviour', file, line })), unreadable: [] }
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** The ids in comments `<!-- verifies: id, id -->` of a page, each before the sentence that gives the advice. */
export function citationsOfPage(text: string, file: string): Scan {
  const citations: Citation[] = []
  const unreadable: Unreadable[] = []
  for (const comment of text.matchAll(/<!--\s*verifies\b(.*?)-->/gs)) {
    const line = text.slice(0, comment.index).split('\n').length
    const ids = /^:\s*([^\s,]+(?:,\s*[^\s,]+)*)\s*$/.exec(comment[1]!)?.[1]
    if (ids === undefined)
      unreadable.push({ file, line, message: 'verifies is a list of ids: <!-- verifies: id, id -->' })
    else citations.push(...ids.split(/,\s*/).map((id) => ({ id, proves: 'advice' as const, file, line })))
  }
  return { citations, unreadable }
}
