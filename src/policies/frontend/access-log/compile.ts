import { mayCoverFields, removedFields } from '#observe/log/default-fields.ts'
import type { AccessLogSettings } from '#observe/observer.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { compileAttributes } from '../../shared/compile-attributes.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { AccessLogSpec } from './schema.ts'

/** @returns undefined without the policy: every request is logged with the default fields (decision A-110) */
export function compileAccessLog(
  sources: readonly PolicySource<AccessLogSpec>[],
  context: CompileContext,
): AccessLogSettings | undefined {
  const source = sources[0]
  if (source === undefined) return undefined
  const { filter, attributes, otlp } = source.spec
  const { add = [], remove = [] } = attributes ?? {}
  const names = add.map(({ name }) => name)
  if (otlp !== undefined) reportNotImplemented(context, source, '.otlp', 'lines are not sent to an OTLP server')
  return {
    filter: filter === undefined ? undefined : context.expression(source, '.filter', filter, 'log', 'condition'),
    remove: removedFields(remove, names),
    mayCover: mayCoverFields(names),
    add: compileAttributes(source, '.attributes.add', add, 'log', context),
  }
}
