import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { compileExtAuth } from '../../shared/ext-auth/compile-ext-auth.ts'
import type { ExtAuthSpec } from './schema.ts'

/** The same as in `traffic`, for every attempt and never conditional (specification 2, 2.3). */
export function compileBackendExtAuth(
  sources: readonly PolicySource<ExtAuthSpec>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  return compileExtAuth(source, '', source.spec, context)
}
