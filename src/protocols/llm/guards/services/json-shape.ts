/** A member of a JSON object; undefined if it is absent, or if the value is no object. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

/** A list; undefined for other values. */
export function list(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Whether some member with this name, at any depth, satisfies a condition. */
export function anywhere(value: unknown, name: string, is: (found: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => (key === name && is(inner)) || anywhere(inner, name, is))
}
