/** Common methods by length. */
const METHODS: readonly (readonly string[])[] = [
  [],
  [],
  [],
  ['GET', 'PUT'],
  ['POST', 'HEAD'],
  ['PATCH'],
  ['DELETE'],
  ['OPTIONS'],
]

/** Returns one shared string for each common method: comparing identical strings is free. */
export function readMethod(text: string, end: number): string {
  for (const method of METHODS[end] ?? []) if (text.startsWith(method)) return method
  return text.slice(0, end)
}
