import type { Parsed } from '#schema/index.ts'
import { described } from '#schema/index.ts'
import { orConditional } from '../../shared/conditional.ts'
import { transformation } from '../../shared/transformation/transformation.ts'

/** `traffic.transformation` (specification 2, 2.2.3). */
export const trafficTransformation = described(
  'Transformations of requests and responses.',
  orConditional(transformation),
)

export type { TransformationSpec, TransformSpec } from '../../shared/transformation/transformation.ts'
export type TransformationSection = Parsed<typeof trafficTransformation>
