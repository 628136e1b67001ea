import type { PolicySource, RequestRun } from '../../policy.ts'
import { chooseMirrors, type Mirror } from './run.ts'

/** Nothing is left to do if no filter has a backend and a positive fraction. */
export function compileRequestMirror(sources: readonly PolicySource<readonly Mirror[]>[]): RequestRun | undefined {
  const mirrors = sources.flatMap(({ spec }) => spec).filter(({ numerator }) => numerator > 0)
  return mirrors.length === 0 ? undefined : { request: (exchange) => chooseMirrors(mirrors, exchange) }
}
