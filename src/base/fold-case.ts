/** Names in the usual style are their own folded form. */
const FOLDED = /^[a-z0-9_]*$/
/** What lower case leaves of U+0130 besides the `i`. */
const DOT_ABOVE = '\u0307'

/**
 * A name without its case, as readers that do not care about case see it: Go, for one, takes U+017F for `s` and U+212A for `k`, others
 * U+0130 and U+0131 for `i`.
 */
export function foldCase(name: string): string {
  return FOLDED.test(name) ? name : name.toUpperCase().toLowerCase().replaceAll(DOT_ABOVE, '')
}

/** Whether `key` is another name than `name`, which is ASCII, and differs from it only in case. */
export function isCaseVariant(key: string, name: string): boolean {
  return key !== name && key.length === name.length && foldCase(key) === foldCase(name)
}
