import type { Hashing } from '#base/hashing.ts'
import type { Head } from '#net/http/head.ts'
import type { AccessKeys } from '../../../shared/clouds/cloud-credential.ts'
import { canonicalRequest } from './canonical-request.ts'
import { EventSigner } from './event-signer.ts'
import { basicTime, ScopeSigner, type SigningScope } from './scope-signer.ts'

/** Services whose requests may have an unsigned body (Amazon S3, "Unsigned payload option"), or must have one (Amazon VPC Lattice). */
const UNSIGNED_BODIES = new Set(['s3', 's3express', 's3-outposts', 's3-object-lambda', 'vpc-lattice-svcs'])
/** Services whose paths are object names, which are signed as they are. */
const OBJECT_STORES = new Set(['s3', 's3express', 's3-outposts', 's3-object-lambda'])
const UNSIGNED = 'UNSIGNED-PAYLOAD'
const SIGNED_EVENTS = 'STREAMING-AWS4-HMAC-SHA256-EVENTS'
const ALGORITHM = 'AWS4-HMAC-SHA256'

/** Whether a signature for a service does not include the body, so that a body of any length streams. */
export function leavesBodyUnsigned(service: string): boolean {
  return UNSIGNED_BODIES.has(service)
}

/**
 * Signs requests with Signature Version 4 ("Create a signed AWS API request"). The signature covers the fields that no server on the way changes
 * (`canonicalRequest`), so edits of single connections do not invalidate it.
 */
export class RequestSigner {
  readonly #signer: ScopeSigner
  readonly #hashing: Hashing
  readonly #unsigned: boolean
  readonly #encodesPathTwice: boolean

  constructor(scope: SigningScope, hashing: Hashing) {
    this.#signer = new ScopeSigner(scope, hashing)
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
    if (this.#unsigned) this.#signAs(UNSIGNED, request, keys, nowMs)
    else this.#sign(request, this.#hashing.sha256(body ?? ''), undefined, keys, nowMs)
  }

  /** The same for a request whose body is an event stream. @returns the signer of its events */
  signEvents(request: Head, keys: AccessKeys, nowMs: number): EventSigner {
    const signature = this.#signAs(SIGNED_EVENTS, request, keys, nowMs)
    return new EventSigner(this.#signer, this.#hashing, keys, signature)
  }

  /** The request says what replaces the digest of its body. */
  #signAs(kind: string, request: Head, keys: AccessKeys, nowMs: number): string {
    return this.#sign(request, kind, kind, keys, nowMs)
  }

  #sign(request: Head, digest: string, said: string | undefined, keys: AccessKeys, nowMs: number): string {
    const time = basicTime(nowMs)
    request.remove('authorization')
    request.set('x-amz-date', time)
    setOrRemove(request, 'x-amz-security-token', keys.sessionToken)
    setOrRemove(request, 'x-amz-content-sha256', said)
    const { text, signedHeaders } = canonicalRequest(request, this.#encodesPathTwice)
    const signature = this.#signer.sign(ALGORITHM, time, this.#hashing.sha256(text + digest), keys)
    const credential = `Credential=${keys.accessKey}/${this.#signer.scopeAt(time)}`
    request.set('authorization', `${ALGORITHM} ${credential}, SignedHeaders=${signedHeaders}, Signature=${signature}`)
    return signature
  }
}

function setOrRemove(request: Head, name: string, value: string | undefined): void {
  if (value === undefined) request.remove(name)
  else request.set(name, value)
}
