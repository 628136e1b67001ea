import { described, listMap, object, type Parsed, required } from '#schema/index.ts'
import { attributeAdd } from '../../shared/attributes.ts'

/** `frontend.metrics` (specification 2, 2.1). */
export const frontendMetrics = described(
  'Labels of metrics.',
  object({
    attributes: required(
      object({
        add: required(
          listMap('name', attributeAdd, { min: 1, max: 16 }),
          'Labels added to every metric of a request; a failing expression gives the value "unknown". ' +
            'A label with many different values makes metrics large.',
        ),
      }),
      'Changes to the labels.',
    ),
  }),
)

export type MetricsSpec = Parsed<typeof frontendMetrics>
