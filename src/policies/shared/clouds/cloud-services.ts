import type { Hashing } from '#base/hashing.ts'
import type { CloudCredential, CredentialSource } from './cloud-credential.ts'

/** What policies need for credentials of clouds. */
export interface CloudServices {
  readonly hashing: Hashing
  /** The region of the gateway's own environment (`AWS_REGION`), for signatures; undefined: not set. */
  readonly region: string | undefined
  /** The credential that the main thread obtains from a source, shared by all policies that need it. */
  readonly credentials: { at(source: CredentialSource): CloudCredential }
}
