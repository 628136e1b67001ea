/** The same data with every text replaced; names of members stay. */
export function hideTexts<T>(value: T, hide: (text: string) => string): T {
  if (typeof value === 'string') return hide(value) as T
  if (Array.isArray(value)) return value.map((item) => hideTexts(item, hide)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hideTexts(member, hide)])) as T
}
