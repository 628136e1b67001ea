/** Whether a name begins with a prefix that is empty or ends with a dot. */
export function hasPrefix(name: string, prefixes: ReadonlySet<string>): boolean {
  if (prefixes.has('')) return true
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    if (prefixes.has(name.slice(0, dot + 1))) return true
  }
  return false
}
