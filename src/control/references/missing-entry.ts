/**
 * The end of a message about an object without an entry that must exist: `has no entry "Authorization"`. Names of entries are case-sensitive.
 * @param names one of which must exist
 */
export function missingEntry(names: readonly string[], present: readonly string[]): string {
  const wanted = names.map((name) => `"${name}"`).join(' or ')
  const similar = present.find((name) => names.some((each) => each.toLowerCase() === name.toLowerCase()))
  return `has no entry ${wanted}${similar === undefined ? '' : `; rename its entry "${similar}"`}`
}
