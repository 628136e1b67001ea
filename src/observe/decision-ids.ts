const ROUNDS = 8
const HALF = 2 ** 32

/**
 * Numbers the decisions of one worker and creates their public ids. An id is the encrypted number (a keyed permutation of 64 bits, a
 * Feistel network). Ids are unique. Without the key, which never leaves the worker, an id shows neither the number of decisions nor the
 * next id. It is computed only when it is read.
 */
export class DecisionIds {
  readonly #keys = crypto.getRandomValues(new Uint32Array(2 * ROUNDS))
  #last = 0

  /** The number of the next decision. */
  next(): number {
    return ++this.#last
  }

  /** The id of a decision in response headers and records: 16 hexadecimal digits. */
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

/** Diffuses each bit over all 32 (the finalizer of MurmurHash3, with an additional key). */
function mix(bits: number, key: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b)
  mixed = Math.imul((mixed ^ (mixed >>> 13)) + key, 0xc2b2_ae35)
  return mixed ^ (mixed >>> 16)
}

function hexOf(half: number): string {
  return half.toString(16).padStart(8, '0')
}
