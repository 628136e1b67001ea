const ROUNDS = 8
const HALF = 2 ** 32

/**
 * Numbers the decisions of one worker and names them to strangers. An id is its number under a keyed permutation of 64 bits (a Feistel
 * network): no two are alike, and without the key, which never leaves the worker, none tells how many decisions there were or what
 * the next one is called. It is computed only when somebody reads it.
 */
export class DecisionIds {
  readonly #keys = crypto.getRandomValues(new Uint32Array(2 * ROUNDS))
  #last = 0

  /** The number of the next decision. */
  next(): number {
    return ++this.#last
  }

  /** What a response field and a record call the decision: 16 hexadecimal digits. */
  idOf(number: number): string {
    let left = Math.floor(number / HALF) >>> 0
    let right = number >>> 0
    for (let i = 0; i < this.#keys.length; i += 2) {
      const mixed = mix((right ^ this.#keys[i]!) >>> 0, this.#keys[i + 1]!)
      const next = (left ^ mixed) >>> 0
      left = right
      right = next
    }
    return hexOf(left) + hexOf(right)
  }
}

/** Spreads each bit over all 32 (the finalizer of MurmurHash3, keyed once more in its middle). */
function mix(bits: number, key: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b)
  mixed = Math.imul((mixed ^ (mixed >>> 13)) + key, 0xc2b2_ae35)
  return mixed ^ (mixed >>> 16)
}

function hexOf(half: number): string {
  return half.toString(16).padStart(8, '0')
}
