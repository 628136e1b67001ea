/** Compares code units, so that an order does not depend on the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The same for the keys of two items. */
export function byKey(a: { readonly key: string }, b: { readonly key: string }): number {
  return compareText(a.key, b.key)
}
