import type { Hashing } from '#base/hashing.ts'
import type { AccessKeys } from '../../../shared/clouds/cloud-credential.ts'

/** What a signature is valid for. */
export interface SigningScope {
  readonly service: string
  readonly region: string
}

/** The key of the signatures of one day. */
interface DayKey {
  readonly keys: AccessKeys
  readonly day: string
  readonly bytes: Uint8Array
}

/** Signs texts for one scope ("Create a signed AWS API request", steps 3 and 4). */
export class ScopeSigner {
  readonly #scope: SigningScope
  readonly #hashing: Hashing
  #dayKey: DayKey | undefined

  constructor(scope: SigningScope, hashing: Hashing) {
    this.#scope = scope
    this.#hashing = hashing
  }

  /** The scope on the day of a `basicTime`. */
  scopeAt(time: string): string {
    const { service, region } = this.#scope
    return `${dayOf(time)}/${region}/${service}/aws4_request`
  }

  /** @param text what follows algorithm, time and scope @returns the signature, in hexadecimal digits */
  sign(algorithm: string, time: string, text: string, keys: AccessKeys): string {
    const toSign = `${algorithm}\n${time}\n${this.scopeAt(time)}\n${text}`
    return this.#hashing.hmacSha256(this.#keyOf(keys, dayOf(time)), toSign).toHex()
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

/** `20260102T030405Z` @param timeMs milliseconds since the epoch */
export function basicTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

function dayOf(time: string): string {
  return time.slice(0, 8)
}
