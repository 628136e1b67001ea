import type { Answer } from './answer.ts'
import { html, pageAnswer, table } from './html.ts'

/** A path of a server for operators. */
export interface IndexEntry {
  readonly path: string
  readonly method: string
  /** One sentence. */
  readonly about: string
}

/** Rows for the paths of a server, with links to those that can be opened. */
export function indexTable(entries: readonly IndexEntry[]) {
  const rows = entries.map(({ path, method, about }) => [
    method === 'GET' ? html`<a href="${path}">${path}</a>` : html`<code>${method} ${path}</code>`,
    about,
  ])
  return table(['Path', 'Content'], rows)
}

/** A page that says what a server is for. */
export function indexPage(title: string, purpose: string, entries: readonly IndexEntry[]): Answer {
  return pageAnswer(
    title,
    html`<h1>${title}</h1>
<p>${purpose}</p>
${indexTable(entries)}`,
  )
}
