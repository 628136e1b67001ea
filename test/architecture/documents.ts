import { posix } from 'node:path'
import type { ProjectText } from './project-texts.ts'

/** Everything that pages may refer to. */
export interface Project {
  /** Every file of the project, from its root. */
  readonly paths: readonly string[]
  /** The scripts of `package.json`. */
  readonly scripts: readonly string[]
  /** Every word of the code, except those that occur only in comments. */
  readonly words: ReadonlySet<string>
}

/** Finds claims of pages that are not true of the project: one line for each, with its place. */
export type PageRule = (pages: readonly ProjectText[], project: Project) => string[]

const FILE = /(?<![\w./@<>*:-])[\w<*][\w.<>*-]*(?:\/[\w.<>*-]+)*\.(?:ts|md)(?![\w/-]|\.\w)/g
/** Documents are also cited by the beginning of their names; `missingDocuments` checks these. */
const FOLDER = /^(?!docs\/|.*\.(?:ts|md)$)[\w<*][\w.<>*-]*\/(?:[\w.<>*-]+\/)*[\w.<>*-]*$/
const FENCE = /^ *```.*?^ *```/gms
const CODE = /`([^`\n]+)`/g
const LINK = /\[[^\]\n]*\]\(([^)\s]+)\)/g
const SCRIPT = /\bnpm run ([\w:-]*\w)/g
/** Types, functions and constants: `LivePlan`, `prepareLlmRequest`, `RESPONSE_FIELDS`. Lower-case words are not checked. */
const NAME = /^(?:[A-Z][a-z][A-Za-z\d]*|[a-z]+[A-Z][A-Za-z\d]*|[A-Z]+(?:_[A-Z]+)+)$/

/**
 * Files that do not exist, and folders in backticks. A path starts at the root, in `src/`, or anywhere below them: `decide.ts`,
 * `request/decide.ts` and `src/engine/request/decide.ts` are the same file. `<name>` and `*` stand for any name.
 */
export const missingPaths: PageRule = (pages, { paths }) => {
  const folders = new Set(paths.flatMap(foldersOf))
  const roots = new Set(
    [...folders].map((folder) => folder.replace(/^src\//, '')).filter((path) => !path.includes('/')),
  )
  const isKnown = pathMatcher([...paths, ...folders])
  return eachLine(pages, (line) => [
    ...[...line.matchAll(FILE)].map(([path]) => path),
    ...codesOf(line).filter((code) => FOLDER.test(code) && isFolder(code, roots)),
  ]).flatMap(({ place, found }) => (isKnown(found) ? [] : [`${place} names ${found}`]))
}

/** Relative links whose file or heading does not exist. */
export const brokenLinks: PageRule = (pages, { paths }) => {
  const known = new Set([...paths, ...paths.flatMap(foldersOf)])
  const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]))
  return pages.flatMap((page) =>
    eachLine([page], (line) => [...line.matchAll(LINK)].map(([, target]) => target!)).flatMap(({ place, found }) => {
      if (/^[a-z]+:/.test(found)) return []
      const [file, anchor] = found.split('#') as [string, string?]
      const path = file === '' ? page.path : posix.join(posix.dirname(page.path), file).replace(/\/$/, '')
      if (known.has(path) && (anchor === undefined || anchors.get(path)?.has(anchor) === true)) return []
      return [`${place} links to ${found}`]
    }),
  )
}

/** Pages for those who come from another gateway: they name its fields, too. */
const COMPARES = /^docs\/guides\/from-/

/** Names in backticks that do not occur in the code. */
export const unknownNames: PageRule = (pages, { words }) =>
  eachLine(
    pages.filter(({ path }) => !COMPARES.test(path)),
    (line) => codesOf(line).flatMap((code) => code.replace(/\(\)$/, '').split('.')),
  )
    .filter(({ found }) => NAME.test(found) && !words.has(found))
    .map(({ place, found }) => `${place} names ${found}`)

/** Commands `npm run <name>` without a script. */
export const unknownScripts: PageRule = (pages, { scripts }) =>
  eachLine(pages, (line) => [...line.matchAll(SCRIPT)].map(([, script]) => script!))
    .filter(({ found }) => !scripts.includes(found))
    .map(({ place, found }) => `${place} runs ${found}`)

/** Pages that do not begin with their title. */
export const untitledPages: PageRule = (pages) =>
  pages.flatMap(({ path, text }) => (text.startsWith('# ') ? [] : [`${path} has no title`]))

export const PAGE_RULES: readonly (readonly [name: string, rule: PageRule])[] = [
  ['files and folders that pages name exist', missingPaths],
  ['links in pages have a target', brokenLinks],
  ['commands that pages name are scripts', unknownScripts],
  ['pages begin with a title', untitledPages],
  ['types, functions and constants that pages name exist', unknownNames],
]

/** @param texts of code, whose comments are skipped */
export function wordsOf(texts: readonly ProjectText[]): ReadonlySet<string> {
  const words = new Set<string>()
  for (const { text } of texts) {
    const code = text.replace(/^[^\S\n]*(?:\/\/|\/?\*).*/gm, '')
    for (const word of code.match(/\w+/g) ?? []) words.add(word)
  }
  return words
}

function codesOf(line: string): string[] {
  return [...line.matchAll(CODE)].map(([, code]) => code!)
}

/** `a2a/` is always a folder of the project; `text/event-stream` is not, because no root folder is named `text`. */
function isFolder(code: string, roots: ReadonlySet<string>): boolean {
  return code.endsWith('/') || roots.has(code.split('/')[0]!)
}

function foldersOf(path: string): string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

function pathMatcher(paths: readonly string[]): (named: string) => boolean {
  const all = paths.map((path) => `/${path}`).join('\n')
  return (named) => {
    const pattern = named
      .replace(/\/$/, '')
      .replace(/[.]/g, '\\.')
      .replace(/<\w+>|\*/g, '[^/\n]+')
    return new RegExp(`/${pattern}$`, 'm').test(all)
  }
}

/** The anchors that renderers give to headings: lower case, punctuation dropped, hyphens for spaces. */
function anchorsOf(text: string): ReadonlySet<string> {
  return new Set(
    [...text.replace(FENCE, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function eachLine(
  pages: readonly ProjectText[],
  find: (line: string) => readonly string[],
): { readonly place: string; readonly found: string }[] {
  return pages.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => find(line).map((found) => ({ place: `${path}:${index + 1}`, found }))),
  )
}
