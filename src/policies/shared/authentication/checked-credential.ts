import type { CheckedCredential } from '../../policy.ts'
import { authorizationHeader, compileWritableLocation } from './credential-location.ts'
import type { ExtractionLocationSpec } from './extraction-location.ts'

interface CredentialSpec {
  readonly mode: 'Strict' | 'Optional' | 'Permissive'
  readonly location?: ExtractionLocationSpec | undefined
}

/** @returns undefined if no credential is refused, or if only an evaluation determines its location */
export function checkedCredential(
  { mode, location }: CredentialSpec,
  scheme: 'Bearer' | 'Basic',
): CheckedCredential | undefined {
  if (mode === 'Permissive' || location?.expression !== undefined) return undefined
  const at = location === undefined ? authorizationHeader(scheme) : compileWritableLocation(location)
  const prefix = at.kind === 'header' ? at.prefix : ''
  return { location: `${at.kind} ${at.name}`, prefix, isRequired: mode === 'Strict' }
}
