import type { Fetched } from '#calls/kept/keeper.ts'
import type { Credential, CredentialRequest, RequestTo } from '#policies/shared/clouds/cloud-credential.ts'
import { CredentialError, causeOf } from './credential-error.ts'

/** For one attempt, all calls to token endpoints included. */
const DEADLINE_MS = 5000
/** Shares of the lifetime after which a credential is renewed (decision A-104): a random one, so that gateways do not all renew at once. */
const RENEW_AFTER = { least: 0.76, most: 0.8 } as const
/** Renewal of credentials that do not expire: the environment may have others. */
const UNLIMITED_MS = 3_600_000
const LEAST_MS = 1000
/** Later times are no dates (ECMA-262, "Time Values and Time Range"). */
const LATEST_MS = 8.64e15

/** The services of a cloud are loaded when the first backend needs them: their libraries are large. */
const CLOUDS = {
  cloudOne: async (request: RequestTo<'cloudOne'>, signal: AbortSignal) =>
    (await import('./cloud-one.ts')).obtainSecret(request, signal),
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
    return { failure: causeOf(error) }
  }
}

/** Checks what a service gave, whatever its library has accepted. */
function usable({ secret, expiresMs }: Credential): Fetched<Credential> {
  if (!canBeSent(secret)) return { failure: 'the answer has no usable credential' }
  if (expiresMs === undefined) return { value: { secret, expiresMs }, forMs: UNLIMITED_MS }
  if (!Number.isFinite(expiresMs)) return { failure: 'the answer does not say when the credential expires' }
  const untilMs = Math.min(expiresMs, LATEST_MS)
  const leftMs = untilMs - Date.now()
  if (leftMs <= 0) return { failure: 'the credential has already expired; check the clock of this machine' }
  const share = RENEW_AFTER.least + Math.random() * (RENEW_AFTER.most - RENEW_AFTER.least)
  return { value: { secret, expiresMs: untilMs }, forMs: Math.max(LEAST_MS, leftMs * share) }
}

function canBeSent(secret: Credential['secret']): boolean {
  if ('token' in secret) return isVisible(secret.token)
  const { accessKey, secretKey, sessionToken } = secret.keys
  return isVisible(accessKey) && isVisible(secretKey) && (sessionToken === undefined || isVisible(sessionToken))
}

/** A library may give anything. */
function isVisible(text: unknown): boolean {
  return typeof text === 'string' && /^[!-~]+$/.test(text)
}
