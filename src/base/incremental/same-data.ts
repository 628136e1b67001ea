/** Whether two pieces of plain data are equal; undefined members count as absent. */
export function sameData(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameData(item, b[i]))
  if (Array.isArray(b)) return false
  const one = a as Readonly<Record<string, unknown>>
  const other = b as Readonly<Record<string, unknown>>
  for (const name in one) if (!sameData(one[name], own(other, name))) return false
  for (const name in other) if (other[name] !== undefined && own(one, name) === undefined) return false
  return true
}

/** Every object inherits members such as `constructor`, which are not data. */
function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = object[name]
  return value === undefined || Object.hasOwn(object, name) ? value : undefined
}
