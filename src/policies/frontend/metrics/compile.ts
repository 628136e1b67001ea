import type { Expression } from '#exchange/expression.ts'
import type { Metric } from '#observe/metrics/metric.ts'
import { METRICS } from '#observe/metrics/metrics.ts'
import type { CustomLabels } from '#observe/observer.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import { compileAttributes } from '../../shared/transformation/compile-attributes.ts'
import type { MetricsSpec } from './schema.ts'

type Source = PolicySource<MetricsSpec>

/** Labels of the metrics that also have custom labels (decision A-113). Histograms have the label `le`. */
const BUILT_IN: ReadonlySet<string> = new Set([
  'le',
  ...Object.values<Metric>(METRICS).flatMap(({ labels, hasCustomLabels }) => (hasCustomLabels ? labels : [])),
])

/** Compiles custom labels for request metrics. If an expression fails, the value is `unknown` (specification 2, 2.1). */
export function compileMetrics(sources: readonly Source[], context: CompileContext): CustomLabels {
  const source = sources[0]
  if (source === undefined) return { names: [], expressions: [] }
  const written = source.spec.attributes.add
  const labels = compileAttributes(source, '.attributes.add', written, 'metric', context)
  const valid = new Map<string, Expression>()
  for (const [i, { name, expression }] of labels.entries()) {
    const label = name.replaceAll('.', '_')
    const problem = valid.has(label) ? `${label} is the name of an earlier label` : labelProblem(label)
    if (problem === undefined) {
      valid.set(label, expression)
      continue
    }
    const message = `${problem}; this label is ignored`
    context.report(source, `.attributes.add[${i}].name`, { severity: 'error', code: 'invalid-label', message })
  }
  return { names: [...valid.keys()], expressions: [...valid.values()] }
}

function labelProblem(label: string): string | undefined {
  if (BUILT_IN.has(label) || label.startsWith('gen_ai_')) return `${label} is a built-in label`
  return /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label) ? undefined : `${label} is not a valid Prometheus label name`
}
