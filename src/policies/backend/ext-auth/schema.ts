/** `backend.extAuth` (specification 2, 2.3): never conditional. */
export { type ExtAuthSpec, extAuth as backendExtAuth } from '../../shared/ext-auth.ts'
