import type { ProjectText } from './project-texts.ts'

/** The ids of the rows of a table of decisions: cells such as `| A-24 |` at the beginning of a line. */
export function decisionIds(table: string): ReadonlySet<string> {
  return new Set([...table.matchAll(/^\| (A-\d+|B\d+) \|/gm)].map(([, id]) => id!))
}

/** Decisions are cited as `A-24` or `B01`; at most three digits, so that other words with digits do not match. */
const DECISION = /(?<![\w\-.])(?:A-\d{2,3}|B\d{2,3})(?![\w\-.]\w|\w)/g

/** Lines with citations of unknown decisions. */
export function unknownDecisions(texts: readonly ProjectText[], known: ReadonlySet<string>): string[] {
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(DECISION)]
      .filter(([id]) => !known.has(id))
      .map(({ 0: id, index }) => `${path}:${text.slice(0, index).split('\n').length} cites decision ${id}`),
  )
}

/** A document, optionally with a heading: `docs/behaviour/http.md, "Order"`. */
const DOCUMENT = /\bdocs\/[\w/-]+(?:\.md)?(?:`?, "([^"]+)")?/g

/**
 * Citations of documents or headings that do not exist. A name without extension is a prefix (`docs/decisions/0006`) or a
 * folder.
 */
export function missingDocuments(texts: readonly ProjectText[]): string[] {
  const documents = new Map(texts.filter(({ path }) => path.startsWith('docs/')).map(({ path, text }) => [path, text]))
  const paths = [...documents.keys()]
  const citing = texts.filter(({ text }) => text.includes('docs/'))
  return citing.flatMap(({ path, text }) =>
    [...joinComments(text).matchAll(DOCUMENT)].flatMap(([citation, heading]) => {
      const cited = citation.replace(/`?, ".*$/s, '')
      if (!paths.some((known) => (cited.endsWith('.md') ? known === cited : known.startsWith(cited)))) {
        return [`${path} cites ${cited}`]
      }
      if (heading === undefined || hasHeading(documents.get(cited), heading)) return []
      return [`${path} cites "${heading}" of ${cited}`]
    }),
  )
}

function hasHeading(text: string | undefined, heading: string): boolean {
  return text?.split('\n').some((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading) ?? false
}

/** A citation may span two lines of a comment. */
function joinComments(text: string): string {
  return text.replace(/\n\s*(?:\*(?!\/)|\/\/) ?/g, ' ')
}
