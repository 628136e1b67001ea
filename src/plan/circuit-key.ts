import { parseJson } from '#base/parse-json.ts'

/** A prompt guard that asks a service. */
export interface CircuitId {
  /** `request` or `response`. */
  readonly phase: string
  /** `webhook` ... */
  readonly kind: string
  /** Key of the backend that it asks. */
  readonly backend: string
  /** Its object and field: `ProxyPolicy/default/guards spec.backend.ai.promptGuard.request[0]`. */
  readonly guard: string
}

const PREFIX = 'Circuit '

/**
 * The key of the shared slot with the circuit of a guard.
 * @param settings a digest of everything that the guard sets: with other settings, earlier failures do not count
 */
export function circuitKey({ phase, kind, backend, guard }: CircuitId, settings: string): string {
  return PREFIX + JSON.stringify([phase, kind, backend, guard, settings])
}

/** @returns undefined for the key of a slot with other state */
export function parseCircuitKey(key: string): CircuitId | undefined {
  if (!key.startsWith(PREFIX)) return undefined
  const [phase, kind, backend, guard] = parseJson(key.slice(PREFIX.length)) as [string, string, string, string]
  return { phase, kind, backend, guard }
}
