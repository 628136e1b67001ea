import type { MatchedPath } from '#exchange/exchange.ts'

/** Characters with a meaning in a regular expression. */
const META = /[\\^$.|?*+()[\]{}]/

/**
 * The Path attribute of the cookie of a route rule (Gateway API, GEP-1619, "Path"): the matched path, or for a regular expression its longest
 * literal prefix of whole segments.
 */
export function cookiePath(matched: MatchedPath | undefined): string {
  if (matched === undefined) return '/'
  const path = matched.type === 'RegularExpression' ? literalPrefix(matched.value) : matched.value
  // Clients end an attribute at these characters.
  return path.startsWith('/') && !/[;\p{Cc}]/u.test(path) ? path : '/'
}

function literalPrefix(pattern: string): string {
  const text = pattern.replace(/^\^/, '')
  const meta = text.search(META)
  if (meta < 0) return text
  return text.slice(0, Math.max(text.lastIndexOf('/', meta - 1), 0))
}
