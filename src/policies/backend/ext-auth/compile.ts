import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { unansweredExtAuth } from '../../shared/ext-auth/unanswered-ext-auth.ts'
import type { ExtAuthSpec } from './schema.ts'

/** As in `traffic`, for every attempt and never conditional (specification 2, 2.3). */
export function compileBackendExtAuth(
  sources: readonly PolicySource<ExtAuthSpec>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  return { request: unansweredExtAuth(source, '', source.spec, context) }
}
