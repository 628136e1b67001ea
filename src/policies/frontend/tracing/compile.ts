import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import { compileAttributes } from '../../shared/transformation/compile-attributes.ts'
import type { TracingSpec } from './schema.ts'

/** Traces are not emitted yet. The policy is checked and reported as having no effect. */
export function compileTracing(sources: readonly PolicySource<TracingSpec>[], context: CompileContext): undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  const { attributes, resources = [], randomSampling, clientSampling } = source.spec
  reportNotImplemented(context, source, '', 'no traces are emitted')
  compileAttributes(source, '.attributes.add', attributes?.add ?? [], 'trace', context)
  compileAttributes(source, '.resources', resources, 'resource', context)
  if (randomSampling !== undefined) context.expression(source, '.randomSampling', randomSampling, 'request')
  if (clientSampling !== undefined) context.expression(source, '.clientSampling', clientSampling, 'request')
  return undefined
}
