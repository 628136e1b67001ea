import type { Hashing } from '#base/hashing.ts'

/** What policies need for credentials of clouds. */
export interface CloudServices {
  readonly hashing: Hashing
  /** The region of the gateway's own environment (`AWS_REGION`), for signatures; undefined: not set. */
  readonly region: string | undefined
}
