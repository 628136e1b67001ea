import type { Answer } from './answer.ts'

export interface IndexEntry {
  readonly path: string
  readonly method: string
  /** One sentence of trusted text without HTML. */
  readonly about: string
}

/** A page that lists the endpoints of a server, without scripts and external resources. */
export function indexPage(title: string, entries: readonly IndexEntry[]): Answer {
  const rows = entries.map(({ path, method, about }) => {
    const name = method === 'GET' ? `<a href="${path}">${path}</a>` : `${method} ${path}`
    return `<dt>${name}</dt><dd>${about}</dd>`
  })
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" },
    body: `<!doctype html>
<html lang="en">
<title>${title}</title>
<h1>${title}</h1>
<dl>
${rows.join('\n')}
</dl>
</html>
`,
  }
}
