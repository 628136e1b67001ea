import { described } from '#schema/index.ts'
import { transformation } from '../../shared/transformation/transformation.ts'

export type { TransformationSpec } from '../../shared/transformation/transformation.ts'

/** `backend.transformation` (specification 2, 2.3): never conditional. */
export const backendTransformation = described('Transformations of requests and responses.', transformation)
