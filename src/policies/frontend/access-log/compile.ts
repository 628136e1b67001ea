import type { OtlpTarget } from '#exchange/otlp-target.ts'
import { mayCoverFields, removedFields, STARTS_LINE } from '#observe/log/default-fields.ts'
import type { AccessLogSettings } from '#observe/observer.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { otlpTarget } from '../../shared/telemetry/otlp-target.ts'
import { type Attribute, compileAttributes } from '../../shared/transformation/compile-attributes.ts'
import type { AccessLogSpec, OtlpAccessLogSpec } from './schema.ts'

type Source = PolicySource<AccessLogSpec>

/** @returns undefined without the policy: every request is logged with the default fields (decision A-110) */
export function compileAccessLog(sources: readonly Source[], context: CompileContext): AccessLogSettings | undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  const { filter, attributes, otlp } = source.spec
  const added = compileAdded(source, context)
  const names = added.map(({ name }) => name)
  return {
    filter: filter === undefined ? undefined : context.expression(source, '.filter', filter, 'log', 'condition'),
    remove: removedFields(attributes?.remove ?? [], names),
    mayCover: mayCoverFields(names),
    add: added,
    otlp: otlp && compileTarget(source, otlp, context),
  }
}

/** @returns undefined for a backend that the policy must not use */
function compileTarget(source: Source, spec: OtlpAccessLogSpec, context: CompileContext): OtlpTarget | undefined {
  const { backendRef, protocol, path = '/v1/logs' } = spec
  const backend = context.calledBackend(source, backendRef)
  return backend === undefined ? undefined : otlpTarget({ signal: 'logs', backend, protocol, path })
}

/** Compiles added attributes, without those that are fixed parts of a log line (decision A-110). */
function compileAdded(source: Source, context: CompileContext): readonly Attribute[] {
  const written = source.spec.attributes?.add ?? []
  return compileAttributes(source, '.attributes.add', written, 'log', context).filter(({ name }, i) => {
    if (!STARTS_LINE.has(name)) return true
    const message = `${name} is a built-in attribute of every log entry; this attribute is ignored`
    context.report(source, `.attributes.add[${i}].name`, { severity: 'error', code: 'invalid-attribute', message })
    return false
  })
}
