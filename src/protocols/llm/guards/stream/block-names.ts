/** Whether a name begins with a prefix that is empty or ends with a dot. */
export function hasPrefix(name: string, prefixes: ReadonlySet<string>): boolean {
  if (prefixes.has('')) return true
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    if (prefixes.has(name.slice(0, dot + 1))) return true
  }
  return false
}

/**
 * Blocks whose texts a client may join: blocks of text follow each other in a message, and some providers go on with a block that has ended.
 * Titles and addresses do not go on, and the choices of chat completions are different answers.
 */
export function familyOf(key: string): string {
  return key.endsWith('.text') && !key.startsWith('choices') ? key.replaceAll(/\d+/g, '') : key
}
