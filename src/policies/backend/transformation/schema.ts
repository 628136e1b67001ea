/** `backend.transformation` (specification 2, 2.3): never conditional. */
export { type TransformationSpec, transformation as backendTransformation } from '../../shared/transformation.ts'
