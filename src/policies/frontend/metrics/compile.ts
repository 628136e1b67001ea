import type { CompileContext, PolicySource } from '../../policy.ts'
import { type Attribute, compileAttributes } from '../../shared/compile-attributes.ts'
import type { MetricsSpec } from './schema.ts'

/** Custom labels of the metrics of a request; a failing expression is the value `unknown` (specification 2, 2.1). */
export function compileMetrics(
  sources: readonly PolicySource<MetricsSpec>[],
  context: CompileContext,
): readonly Attribute[] {
  const source = sources[0]
  return source === undefined
    ? []
    : compileAttributes(source, '.attributes.add', source.spec.attributes.add, 'metric', context)
}
