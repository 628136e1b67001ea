import type { RequiredCredential } from '../../policy.ts'
import { authorizationHeader, compileWritableLocation } from './credential-location.ts'
import type { ExtractionLocationSpec } from './extraction-location.ts'

interface CredentialSpec {
  readonly mode: 'Strict' | 'Optional' | 'Permissive'
  readonly location?: ExtractionLocationSpec | undefined
}

/** @returns undefined if a request may have none, or if only an evaluation determines its location */
export function requiredCredential(
  { mode, location }: CredentialSpec,
  scheme: 'Bearer' | 'Basic',
): RequiredCredential | undefined {
  if (mode !== 'Strict' || location?.expression !== undefined) return undefined
  const at = location === undefined ? authorizationHeader(scheme) : compileWritableLocation(location)
  return { location: `${at.kind} ${at.name}`, prefix: at.kind === 'header' ? at.prefix : '' }
}
