import type { Fetched } from '#calls/kept/keeper.ts'
import type { Credential, CredentialRequest, RequestTo } from '#policies/shared/clouds/cloud-credential.ts'
import { CredentialError } from './credential-error.ts'

/** For one attempt, all calls to token endpoints included. */
const DEADLINE_MS = 5000
/** Shares of the lifetime after which a credential is renewed (decision A-104): a random one, so that gateways do not all renew at once. */
const RENEW_AFTER = { least: 0.76, most: 0.8 } as const
/** Renewal of credentials that do not expire: the environment may have others. */
const UNLIMITED_MS = 3_600_000
const LEAST_MS = 1000

/** The services of a cloud are loaded when the first backend needs them: their libraries are large. */
const CLOUDS = {
  cloudOne: async (_: unknown, signal: AbortSignal) => (await import('./cloud-one.ts')).obtainKeys(signal),
  cloudTwo: async (request: RequestTo<'cloudTwo'>, signal: AbortSignal) =>
    (await import('./cloud-two.ts')).obtainToken(request, signal),
  cloudThree: async (request: RequestTo<'cloudThree'>, signal: AbortSignal) =>
    (await import('./cloud-three.ts')).obtainToken(request, signal),
}

/** Obtains a credential once. Rejects only for bugs; libraries throw for everything that goes wrong outside. */
export async function fetchCredential(
  request: CredentialRequest,
  closing: AbortSignal,
  deadlineMs = DEADLINE_MS,
): Promise<Fetched<Credential>> {
  const deadline = AbortSignal.timeout(deadlineMs)
  const signal = AbortSignal.any([closing, deadline])
  const ended = Promise.withResolvers<never>()
  signal.addEventListener('abort', () => ended.reject(new CredentialError(`no answer within ${deadlineMs / 1000} s`)))
  ended.promise.catch(() => {})
  try {
    const value = await Promise.race([CLOUDS[request.cloud](request as never, signal), ended.promise])
    return usable(value)
  } catch (error) {
    return { failure: describe(error) }
  }
}

function usable(value: Credential): Fetched<Credential> {
  if (value.expiresMs === undefined) return { value, forMs: UNLIMITED_MS }
  const leftMs = value.expiresMs - Date.now()
  if (!(leftMs > 0)) return { failure: 'the credential has already expired; check the clock of this machine' }
  const share = RENEW_AFTER.least + Math.random() * (RENEW_AFTER.most - RENEW_AFTER.least)
  return { value, forMs: Math.max(LEAST_MS, leftMs * share) }
}

/** One line of at most 300 characters. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 300)}...` : line
}
