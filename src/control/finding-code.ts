import type { ConfigProblem } from '#base/config-problem.ts'

/** A reference that leads nowhere; what it breaks further on is a consequence of it. */
export const REFERENCE_CODES = [
  'backend-not-found',
  'backend-kind-unknown',
  'backend-port-missing',
  'backend-port-unknown',
  'backend-takes-requests',
  'reference-not-permitted',
  'key-set-backend',
  'secret-not-found',
  'secret-key-missing',
  'config-map-not-found',
  'config-map-key-missing',
  'selector-matches-nothing',
  'selector-invalid',
] as const

/** What control can find, by stable code. Codes are API: pinned by a test, never renamed. */
export const FINDING_CODES = [
  ...REFERENCE_CODES,
  'service-without-endpoints',
  'annotation-value',
  // what traffic shows
  'backend-not-http2',
  // Gateways and listeners
  'no-gateway',
  'parameters-invalid',
  'parameters-only-on-kubernetes',
  'listener-protocol',
  'listener-port-reserved',
  'listener-protocol-conflict',
  'listener-hostname-conflict',
  'listener-certificate',
  'listener-client-authority',
  'listener-route-kinds',
  'listener-set-not-allowed',
  // routes
  'parent-not-found',
  'parent-not-matching',
  'parent-not-allowed',
  'parent-hostname',
  'route-shadowed',
  'filters-incompatible',
  'filter-value',
  // policies
  'target-not-found',
  'target-not-attached',
  'target-section-unknown',
  'target-selects-nothing',
  'overridden-by-tie',
  'overridden-in-part',
  // in general
  'no-effect',
  'name-collision',
  'name-invalid',
  'not-implemented',
] as const

export type FindingCode = (typeof FINDING_CODES)[number]

/** Something in an object that will not take full effect, as control finds it. */
export interface Problem extends ConfigProblem {
  readonly code: FindingCode
}

/** Takes note of a problem in an object. */
export type Report = (problem: Problem) => void
