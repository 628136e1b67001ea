/** A member of a JSON object; undefined if it is absent or null, or if the value is no object. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
    return undefined
  return (value as Readonly<Record<string, unknown>>)[name] ?? undefined
}

/** A list; undefined for other values. */
export function list(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Texts, one for each that was sent; undefined for anything else, such as half a character, which cannot be sent on. */
export function textsFor(values: readonly unknown[] | undefined, count: number): readonly string[] | undefined {
  return values?.length === count && values.every(isWellFormed) ? values : undefined
}

function isWellFormed(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed()
}

/** Whether some member with this name, at any depth, satisfies a condition. Without recursion: a server chooses the depth. */
export function anywhere(value: unknown, name: string, is: (found: unknown) => boolean): boolean {
  const open = [value]
  // The list grows while it is read.
  for (const next of open) {
    if (typeof next !== 'object' || next === null) continue
    for (const [key, inner] of Object.entries(next)) {
      if (key === name && inner !== null && is(inner)) return true
      open.push(inner)
    }
  }
  return false
}
