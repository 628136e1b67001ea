import { createHash } from 'node:crypto'
import { crypt64 } from './crypt64.ts'

const DEFAULT_ROUNDS = 5000

interface Variant {
  readonly algorithm: 'sha256' | 'sha512'
  /** Bytes of the digest, three for each four characters of the text. */
  readonly order: readonly number[]
  /** The rest of the digest, highest byte first. */
  readonly last: readonly number[]
}

export const SHA256: Variant = { algorithm: 'sha256', order: rotations(10, [0, 10, 20], [2, 0, 1]), last: [31, 30] }
export const SHA512: Variant = { algorithm: 'sha512', order: rotations(21, [0, 21, 42], [1, 2, 0]), last: [63] }

/** Each triple is the previous one, reordered, with every byte moved by one. */
function rotations(count: number, first: readonly number[], take: readonly number[]): number[] {
  const order: number[] = []
  let triple = [...first]
  for (let i = 0; i < count; i++) {
    order.push(...triple)
    triple = take.map((from) => triple[from]! + 1)
  }
  return order
}

/**
 * The hash of `$5$` and `$6$` (Ulrich Drepper, "Unix crypt using SHA-256 and SHA-512"); names of values are those of its steps.
 * @returns the characters after the salt
 */
export function shaCrypt(
  password: Uint8Array,
  salt: string,
  variant: Variant,
  rounds: number | undefined = DEFAULT_ROUNDS,
): string {
  const digest = (parts: readonly Uint8Array[]): Uint8Array => {
    const hash = createHash(variant.algorithm)
    for (const part of parts) hash.update(part)
    return hash.digest()
  }
  const saltBytes = Buffer.from(salt)
  const { length } = password
  const b = digest([password, saltBytes, password])
  const ofA: Uint8Array[] = [password, saltBytes, Buffer.alloc(length, b)]
  for (let bits = length; bits > 0; bits >>= 1) ofA.push((bits & 1) === 1 ? b : password)
  let c = digest(ofA)
  const p = Buffer.alloc(length, digest(new Array<Uint8Array>(length).fill(password)))
  const s = Buffer.alloc(saltBytes.length, digest(new Array<Uint8Array>(16 + c[0]!).fill(saltBytes)))
  for (let round = 0; round < rounds; round++) {
    const odd = (round & 1) === 1
    const ofC: Uint8Array[] = [odd ? p : c]
    if (round % 3 !== 0) ofC.push(s)
    if (round % 7 !== 0) ofC.push(p)
    ofC.push(odd ? c : p)
    c = digest(ofC)
  }
  return textOf(c, variant)
}

function textOf(digest: Uint8Array, { order, last }: Variant): string {
  let text = ''
  for (let i = 0; i < order.length; i += 3) {
    text += crypt64((digest[order[i]!]! << 16) | (digest[order[i + 1]!]! << 8) | digest[order[i + 2]!]!, 4)
  }
  const rest = last.reduce((bits, byte) => (bits << 8) | digest[byte]!, 0)
  return text + crypt64(rest, last.length + 1)
}
