import type { Hashing } from '#base/hashing.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import type { AccessKeys } from '../../../shared/clouds/cloud-credential.ts'
import { basicTime, type ScopeSigner } from './scope-signer.ts'

/** The header that every signed event has. */
export const SIGNATURE_HEADER = ':chunk-signature'

const ALGORITHM = 'AWS4-HMAC-SHA256-PAYLOAD'
const SIGNATURE_BYTES = 32
const TIME_BYTES = 8

/** The headers of a signed event, of which only the first is signed. Each ends with its value. */
const DATE = encodeHeaders([{ name: ':date', type: 'timestamp', value: 0 }])
const HEADERS = Uint8Array.of(
  ...DATE,
  ...encodeHeaders([{ name: SIGNATURE_HEADER, type: 'bytes', value: new Uint8Array(SIGNATURE_BYTES) }]),
)

/** Signs the events of one body, of which each signature covers the one before (Amazon Transcribe, "Event stream encoding"). */
export class EventSigner {
  readonly #signer: ScopeSigner
  readonly #hashing: Hashing
  readonly #keys: AccessKeys
  #before: string

  /** @param before the signature of the request */
  constructor(signer: ScopeSigner, hashing: Hashing, keys: AccessKeys, before: string) {
    this.#signer = signer
    this.#hashing = hashing
    this.#keys = keys
    this.#before = before
  }

  /**
   * @param event the frame of an event; nothing at the end of the body
   * @param nowMs milliseconds since the epoch
   * @returns the frame to send, with the event as its payload
   */
  sign(event: Uint8Array, nowMs: number): Uint8Array {
    const headers = HEADERS.slice()
    new DataView(headers.buffer).setBigInt64(DATE.length - TIME_BYTES, BigInt(nowMs))
    const digests = `${this.#hashing.sha256(headers.subarray(0, DATE.length))}\n${this.#hashing.sha256(event)}`
    this.#before = this.#signer.sign(ALGORITHM, basicTime(nowMs), `${this.#before}\n${digests}`, this.#keys)
    headers.set(Uint8Array.fromHex(this.#before), headers.length - SIGNATURE_BYTES)
    return encodeEvent(headers, event)
  }
}
