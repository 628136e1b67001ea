/**
 * A boolean parameter of a query, as Kubernetes reads it: only a missing one, `0` and `false` in any case are false.
 * Python's client sends `watch=True`.
 */
export function queryFlag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  return text !== null && text !== '0' && text.toLowerCase() !== 'false'
}
