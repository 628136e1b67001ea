import type { Hashing } from '#base/hashing.ts'
import type { Head } from '#net/http/head.ts'
import type { AccessKeys } from '../../../shared/clouds/cloud-credential.ts'
import { canonicalRequest } from './canonical-request.ts'

/** What a signature is valid for. */
export interface SigningScope {
  readonly service: string
  readonly region: string
}

/** Services whose requests may have an unsigned body (Amazon S3, "Unsigned payload option"), or must have one (Amazon VPC Lattice). */
const UNSIGNED_BODIES = new Set(['s3', 's3express', 's3-outposts', 's3-object-lambda', 'vpc-lattice-svcs'])
/** Services whose paths are object names, which are signed as they are. */
const OBJECT_STORES = new Set(['s3', 's3express', 's3-outposts', 's3-object-lambda'])
const UNSIGNED = 'UNSIGNED-PAYLOAD'
const ALGORITHM = 'AWS4-HMAC-SHA256'

/** Whether a signature for a service does not include the body, so that a body of any length streams. */
export function leavesBodyUnsigned(service: string): boolean {
  return UNSIGNED_BODIES.has(service)
}

/** The key of the signatures of one day. */
interface DayKey {
  readonly keys: AccessKeys
  readonly day: string
  readonly bytes: Uint8Array
}

/**
 * Signs requests with Signature Version 4 ("Create a signed AWS API request"). The signature covers the fields that no server on the way changes
 * (`canonicalRequest`), so edits of single connections do not invalidate it.
 */
export class RequestSigner {
  readonly #scope: SigningScope
  readonly #hashing: Hashing
  readonly #unsigned: boolean
  readonly #encodesPathTwice: boolean
  #dayKey: DayKey | undefined

  constructor(scope: SigningScope, hashing: Hashing) {
    this.#scope = scope
    this.#hashing = hashing
    this.#unsigned = leavesBodyUnsigned(scope.service)
    this.#encodesPathTwice = !OBJECT_STORES.has(scope.service)
  }

  /**
   * Signs a request that nothing changes afterwards. A signature of the client is replaced.
   * @param body the whole body; not read if the service takes unsigned bodies
   * @param nowMs milliseconds since the epoch
   */
  sign(request: Head, body: Uint8Array | undefined, keys: AccessKeys, nowMs: number): void {
    const time = basicTime(nowMs)
    const digest = this.#unsigned ? UNSIGNED : this.#hashing.sha256(body ?? '')
    request.remove('authorization')
    request.set('x-amz-date', time)
    if (keys.sessionToken === undefined) request.remove('x-amz-security-token')
    else request.set('x-amz-security-token', keys.sessionToken)
    if (this.#unsigned) request.set('x-amz-content-sha256', digest)
    else request.remove('x-amz-content-sha256')

    const { service, region } = this.#scope
    const day = time.slice(0, 8)
    const scope = `${day}/${region}/${service}/aws4_request`
    const { text, signedHeaders } = canonicalRequest(request, this.#encodesPathTwice)
    const toSign = `${ALGORITHM}\n${time}\n${scope}\n${this.#hashing.sha256(text + digest)}`
    const signature = this.#hashing.hmacSha256(this.#keyOf(keys, day), toSign).toHex()
    const credential = `Credential=${keys.accessKey}/${scope}`
    request.set('authorization', `${ALGORITHM} ${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`)
  }

  #keyOf(keys: AccessKeys, day: string): Uint8Array {
    const known = this.#dayKey
    if (known?.keys === keys && known.day === day) return known.bytes
    const { service, region } = this.#scope
    let bytes = this.#hashing.hmacSha256(`AWS4${keys.secretKey}`, day)
    for (const part of [region, service, 'aws4_request']) bytes = this.#hashing.hmacSha256(bytes, part)
    this.#dayKey = { keys, day, bytes }
    return bytes
  }
}

/** `20260102T030405Z` */
function basicTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}
