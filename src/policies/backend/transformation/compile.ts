import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { runTransformation } from '../../shared/transformation/run-transformation.ts'
import { compileTransformation } from '../../shared/transformation/transform.ts'
import type { TransformationSpec } from './schema.ts'

/** The same as in `traffic`, for every attempt and never conditional (specification 2, 2.3). */
export function compileBackendTransformation(
  sources: readonly PolicySource<TransformationSpec>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  return runTransformation(compileTransformation(source, '', source.spec, context))
}
