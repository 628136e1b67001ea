import { defaultProvider } from '@aws-sdk/credential-provider-node'
import { toByteText } from '#base/byte-text.ts'
import type { Credential, RequestTo } from '#policies/shared/clouds/cloud-credential.ts'
import { CredentialError, causeOf } from './credential-error.ts'

/**
 * Texts of the SDK without values of others. Other errors may have the command line and the output of a program that gives keys, or what a
 * server answered.
 */
const TEXTS =
  /^(?:Could not load credentials from any providers|Could not resolve credentials using profile|Server responded with status: \d+|URL not accepted|Web identity configuration not specified|The SSO session associated with this profile (?:has expired|is invalid))/

/** An API key of the service, as the vendor's tools read it; it comes before all keys. */
const API_KEYS = { bedrock: 'AWS_BEARER_TOKEN_BEDROCK' } as const

/** The API key of the environment if the request is for a service that has one, else keys. */
export async function obtainSecret({ service }: RequestTo<'cloudOne'>, signal: AbortSignal): Promise<Credential> {
  const apiKey = service === undefined ? undefined : process.env[API_KEYS[service]]?.trim()
  return apiKey ? { secret: { token: toByteText(apiKey) }, expiresMs: undefined } : await obtainKeys(signal)
}

/**
 * Keys from the default chain of the vendor's SDK: environment, profile, web identity (roles of pods), container, instance metadata. A new
 * provider for each attempt, because one keeps what it has found.
 */
async function obtainKeys(signal: AbortSignal): Promise<Credential> {
  const provider = defaultProvider({ timeout: 1000, maxRetries: 1, ignoreCache: true })
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provider().catch((error: unknown) => {
    throw new CredentialError(causeOf(error, TEXTS))
  })
  signal.throwIfAborted()
  return {
    secret: {
      keys: {
        accessKey: toByteText(accessKeyId),
        secretKey: toByteText(secretAccessKey),
        sessionToken: sessionToken && toByteText(sessionToken),
      },
    },
    expiresMs: expiration?.getTime(),
  }
}
