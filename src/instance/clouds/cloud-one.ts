import { defaultProvider } from '@aws-sdk/credential-provider-node'
import { toByteText } from '#base/byte-text.ts'
import type { Credential } from '#policies/shared/clouds/cloud-credential.ts'

/**
 * Keys from the default chain of the vendor's SDK: environment, profile, web identity (roles of pods), container, instance metadata. A new
 * provider for each attempt, because one keeps what it has found.
 */
export async function obtainKeys(signal: AbortSignal): Promise<Credential> {
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider({
    timeout: 1000,
    maxRetries: 1,
    ignoreCache: true,
  })()
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
