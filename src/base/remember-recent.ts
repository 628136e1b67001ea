/** Names that are remembered at a time, and the most characters of one. */
const MAX_NAMES = 200
const MAX_LENGTH = 200

/**
 * The same function of a name, which remembers results: requests name few things, again and again. Names come from clients, so that they are
 * forgotten all together when there are too many, and long ones are not remembered.
 */
export function rememberRecent<Result>(find: (name: string) => Result): (name: string) => Result {
  const recent = new Map<string, Result>()
  return (name) => {
    const known = recent.get(name)
    if (known !== undefined) return known
    const found = find(name)
    if (name.length > MAX_LENGTH) return found
    if (recent.size === MAX_NAMES) recent.clear()
    recent.set(name, found)
    return found
  }
}
