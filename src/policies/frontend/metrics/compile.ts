import type { CompileContext, PolicySource } from '../../policy.ts'
import { type Attribute, compileAttributes } from '../../shared/transformation/compile-attributes.ts'
import type { MetricsSpec } from './schema.ts'

type Source = PolicySource<MetricsSpec>

/** Labels of the gateway's own metrics; a custom one of the same name would say two things at once (decision A-113). */
const BUILT_IN: ReadonlySet<string> = new Set([
  'backend',
  'code',
  'gateway',
  'le',
  'listener',
  'method',
  'protocol',
  'reason',
  'resource',
  'resource_type',
  'route',
  'route_rule',
  'server',
  'status',
])

/** Custom labels of the metrics of a request; a failing expression is the value `unknown` (specification 2, 2.1). */
export function compileMetrics(sources: readonly Source[], context: CompileContext): readonly Attribute[] {
  const source = sources[0]
  if (source === undefined) return []
  const written = source.spec.attributes.add
  const labels = compileAttributes(source, '.attributes.add', written, 'metric', context)
  return labels.flatMap(({ name, expression }, i) => {
    const label = name.replaceAll('.', '_')
    const problem = labelProblem(label)
    if (problem === undefined) return [{ name: label, expression }]
    const message = `${problem}; this label is ignored`
    context.report(source, `.attributes.add[${i}].name`, { severity: 'error', code: 'invalid-label', message })
    return []
  })
}

function labelProblem(label: string): string | undefined {
  if (BUILT_IN.has(label) || label.startsWith('gen_ai_')) return `${label} is a built-in label`
  return /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label) ? undefined : `${label} is not a valid Prometheus label name`
}
