import { define, NO_SUCH_KEY, type Overload, type Result } from '#cel/index.ts'

/**
 * Functions of request targets, such as `request.uri.query("k")`: they return values or a new target (docs/behaviour/http.md, "Headers and
 * queries").
 */
export const QUERY_FUNCTIONS: readonly Overload[] = [
  define('(string).query(string) -> list(string)', (target: string, key: string): Result => {
    const values = parametersOf(target).getAll(key)
    return values.length === 0 ? NO_SUCH_KEY : values
  }),
  define(
    '(string).addQuery(string, string) -> string',
    (target: string, key: string, value: string): Result =>
      withParameters(target, (parameters) => parameters.append(key, value)),
  ),
  define(
    '(string).setQuery(string, string) -> string',
    (target: string, key: string, value: string): Result =>
      withParameters(target, (parameters) => parameters.set(key, value)),
  ),
]

function parametersOf(target: string): URLSearchParams {
  const mark = target.indexOf('?')
  return new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1))
}

function withParameters(target: string, change: (parameters: URLSearchParams) => void): string {
  const mark = target.indexOf('?')
  const parameters = parametersOf(target)
  change(parameters)
  return `${mark < 0 ? target : target.slice(0, mark)}?${parameters}`
}
