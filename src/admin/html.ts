import { createHash } from 'node:crypto'
import { escapeInvisible } from '#base/visible-text.ts'
import type { Answer } from './answer.ts'
import { PAGE_STYLE } from './page-style.ts'

/** Text that is HTML already. Only `html` creates it. */
class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type { Html }

type Part = Html | string | number | undefined | false | readonly Part[]

/** A template of HTML: every value that is not HTML itself is escaped; `undefined` and `false` are left out. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(texts.map((text, at) => (at === 0 ? text : textOf(parts[at - 1]) + text)).join(''))
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return escapeInvisible(String(part)).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Nothing is loaded, no script runs, and no style applies except the one of the page. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A whole page. It works without scripts and external resources. */
export function pageAnswer(title: string, body: Html): Answer {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${new Html(`<style>${PAGE_STYLE}</style>`)}
</head>
<body>
${body}
</body>
</html>
`
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' },
    body: page.text,
  }
}

/** Some messages quote an expression below their first line, with a mark at the place. @param after behind the first line */
export function withQuote(message: string, after?: Html): Html {
  const [first = '', ...more] = message.split('\n')
  const quoted = more.map((line) => html`${line}\n`)
  return html`${first}${after}${more.length > 0 && html`<pre>${quoted}</pre>`}`
}

/** A section with its heading, which links inside of the page point to. */
export function section(id: string, title: string, ...content: readonly Part[]): Html {
  return html`<section aria-labelledby="${id}">
<h2 id="${id}">${title}</h2>
${content}
</section>
`
}

/** A table; on narrow screens every cell becomes a line with the name of its column. Roles keep it a table for screen readers. */
export function table(columns: readonly string[], rows: readonly (readonly Part[])[]): Html {
  const heads = columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)
  const lines = rows.map(
    (cells) => html`<tr role="row">${cells.map(
      (cell, at) => html`<td role="cell" data-column="${columns[at]}">${cell}</td>`,
    )}</tr>
`,
  )
  return html`<table role="table">
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">
${lines}</tbody>
</table>
`
}
