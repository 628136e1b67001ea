/** Names in the usual style are unchanged by folding. */
const FOLDED = /^[a-z0-9_]*$/
/** The rest of U+0130 in lower case, after the `i`. */
const DOT_ABOVE = '\u0307'

/**
 * Folds the letter case of a name as case-insensitive parsers do. Go, for example, treats U+017F as `s` and U+212A as `k`; others treat
 * U+0130 and U+0131 as `i`.
 */
export function foldCase(name: string): string {
  return FOLDED.test(name) ? name : name.toUpperCase().toLowerCase().replaceAll(DOT_ABOVE, '')
}

/** Whether `key` differs from `name`, which is ASCII, only in letter case. */
export function isCaseVariant(key: string, name: string): boolean {
  return key !== name && key.length === name.length && foldCase(key) === foldCase(name)
}
