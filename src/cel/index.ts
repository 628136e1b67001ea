/**
 * The expression language: parse, check and compile once, evaluate often. Runs wherever JavaScript runs.
 *
 * ```ts
 * const environment = createEnvironment<Exchange>({
 *   variables: [
 *     { path: 'request.method', type: 'string', read: (exchange) => exchange.method },
 *     { path: 'request.headers', type: 'headers', read: (exchange) => new Headers(exchange), index: (exchange, name) => exchange.header(name) },
 *     { path: 'response.code', unavailable: 'only in the response phase' },
 *   ],
 *   types: [{ name: 'headers', element: 'string', methods: ['join() -> headers', 'cookie(string) -> string'] }],
 *   functions: [define('(string).shout() -> string', (text: string) => `${text}!`)],
 * })
 * const { program, problems } = compile('request.method == "GET"', environment, { expect: 'bool' })
 * if (program !== undefined && isTrue(program.evaluateBoolean(exchange))) ...
 * ```
 *
 * Values have the forms in `value.ts`. If `read` or `index` returns `undefined`, the value is absent: the expression fails with
 * `no such key`, and `has()` and `in` are false. Return null only for a CEL null.
 */
import { createEnvironment as createWithLibrary, type Environment, type EnvironmentOptions } from './environment.ts'
import type { CelError } from './error.ts'
import { type RandomSource, systemRandom } from './functions/gateway.ts'
import { createLibrary, type Library } from './library.ts'
import type { Result } from './value.ts'

export { type Budget, WHOLE_BUDGET } from './budget.ts'
export type {
  Environment,
  EnvironmentOptions,
  HostType,
  Misfit,
  TypeProvider,
  UnavailableVariable,
  Variable,
} from './environment.ts'
export { CelError, type CelErrorCode, NO_SUCH_KEY, noSuchKey } from './error.ts'
export { FLATTEN_FUNCTIONS, Flattened } from './functions/flatten.ts'
export type { RandomSource } from './functions/gateway.ts'
export { parseJsonBytes } from './functions/parse-json.ts'
export { fromJson, JsonMap, toExactJson, toJson, toJsonText } from './json.ts'
export { EntryMap } from './map-value.ts'
export type { MembersRead } from './members-read.ts'
export { define, type Overload } from './overload.ts'
export { parse } from './parser.ts'
export type { PossibleResults, Presence } from './possible-results.ts'
export { type Compiled, type CompileOptions, compile, type Program } from './program.ts'
export type { Note, Problem, ProblemCode } from './source.ts'
export { formatType, type Type } from './type.ts'
export { typeNameOf } from './type-name.ts'
export {
  Double,
  Duration,
  HostObject,
  MapValue,
  Optional,
  type Result,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './value.ts'

let standard: Library | undefined

/**
 * Creates the environment for one context of expressions, with the whole library. Create one per context, not per expression. `random` is
 * the source of `random()` and `uuid()`; default: that of the system.
 * @throws Error for contradictory declarations: they are code
 */
export function createEnvironment<C>(
  options: EnvironmentOptions<C> & { readonly random?: RandomSource<C> },
): Environment<C> {
  standard ??= createLibrary(systemRandom)
  return createWithLibrary(options.random === undefined ? standard : createLibrary(options.random), options)
}

/** Evaluates the result of a condition: only `true` is true; errors and non-bool values are not. */
export function isTrue(result: Result | CelError): boolean {
  return result === true
}
