import type { TracingSettings } from '#exchange/tracing-settings.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { otlpTarget } from '../../shared/telemetry/otlp-target.ts'
import { compileAttributes } from '../../shared/transformation/compile-attributes.ts'
import type { TracingSpec } from './schema.ts'

/** @returns undefined: nothing is traced, because there is no policy, or because it must not use its backend (reported elsewhere) */
export function compileTracing(
  sources: readonly PolicySource<TracingSpec>[],
  context: CompileContext,
): TracingSettings | undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  const { backendRef, protocol, path = '/v1/traces', attributes, randomSampling, clientSampling } = source.spec
  const add = compileAttributes(source, '.attributes.add', attributes?.add ?? [], 'trace', context)
  const resources = compileAttributes(source, '.resources', source.spec.resources ?? [], 'resource', context)
  const sampling = (field: string, text: string | undefined) =>
    text === undefined ? undefined : context.expression(source, field, text, 'request')
  const settings = {
    randomSampling: sampling('.randomSampling', randomSampling),
    clientSampling: sampling('.clientSampling', clientSampling),
    remove: new Set(attributes?.remove),
    add,
  }
  const backend = context.calledBackend(source, backendRef)
  if (backend === undefined) return undefined
  return { target: otlpTarget({ signal: 'traces', backend, protocol, path }, resources), ...settings }
}
