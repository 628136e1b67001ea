import { described, listMap, object, type Parsed, required } from '#schema/index.ts'
import { attributeAdd } from '../../shared/transformation/attributes.ts'

/** `frontend.metrics` (specification 2, 2.1). */
export const frontendMetrics = described(
  'Metrics settings.',
  object({
    attributes: required(
      object({
        add: required(
          listMap('name', attributeAdd, { min: 1, max: 16 }),
          'Labels to add to every request metric. If an expression fails to evaluate, the value is "unknown". ' +
            'Avoid labels with many distinct values: each value adds a time series.',
        ),
      }),
      'Labels to add to metrics.',
    ),
  }),
)

export type MetricsSpec = Parsed<typeof frontendMetrics>
