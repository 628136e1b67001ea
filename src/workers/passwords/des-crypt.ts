import { CRYPT64 } from './crypt64.ts'

/** Tables of FIPS 46-3. Positions count from 1, as there. */
const INITIAL = [
  58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24,
  16, 8, 57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31,
  23, 15, 7,
]
const FINAL = [
  40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45, 13, 53, 21,
  61, 29, 36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18, 58, 26, 33, 1, 41, 9, 49,
  17, 57, 25,
]
const EXPANSION = [
  32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 20, 21, 22,
  23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
]
const PERMUTATION = [
  16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
]
const KEY_CHOICE = [
  57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63, 55,
  47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
]
const ROUND_KEY_CHOICE = [
  14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55, 30,
  40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
]
const SHIFTS = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1]
/** One line per S-box: its four rows of 16 outputs, as hexadecimal digits. */
const BOXES = [
  'e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d',
  'f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9',
  'a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c',
  '7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e',
  '2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453',
  'c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d',
  '4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c',
  'd2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b',
].map((rows) => rows.split(' ').map((row) => [...row].map((digit) => Number(`0x${digit}`))))

/** One bit per element. */
type Bits = Uint8Array

const ENCRYPTIONS = 25

/**
 * The traditional hash of crypt(3): encrypts 64 zero bits 25 times with the password as the key of a DES whose expansion the salt changes.
 * Only eight characters of the password count, and seven bits of each.
 * @param salt two characters
 * @returns the salt and 11 characters
 */
export function desCrypt(password: Uint8Array, salt: string): string {
  const roundKeys = roundKeysOf(keyOf(password))
  const expansion = expansionWith(salt)
  let block: Bits = new Uint8Array(64)
  for (let i = 0; i < ENCRYPTIONS; i++) block = encrypt(block, roundKeys, expansion)
  let text = salt
  for (let at = 0; at < 64; at += 6) {
    let bits = 0
    for (let i = at; i < at + 6; i++) bits = (bits << 1) | (block[i] ?? 0)
    text += CRYPT64[bits]
  }
  return text
}

/** The lower seven bits of each byte; the eighth of a DES key is parity. */
function keyOf(password: Uint8Array): Bits {
  const key = new Uint8Array(64)
  for (let byte = 0; byte < 8; byte++) {
    for (let bit = 0; bit < 7; bit++) key[8 * byte + bit] = ((password[byte] ?? 0) >> (6 - bit)) & 1
  }
  return key
}

function roundKeysOf(key: Bits): readonly Bits[] {
  const chosen = permute(key, KEY_CHOICE)
  let left = [...chosen.subarray(0, 28)]
  let right = [...chosen.subarray(28)]
  return SHIFTS.map((by) => {
    left = [...left.slice(by), ...left.slice(0, by)]
    right = [...right.slice(by), ...right.slice(0, by)]
    return permute(Uint8Array.from([...left, ...right]), ROUND_KEY_CHOICE)
  })
}

/** Bit n of the salt swaps the outputs n and n + 24 of the expansion. */
function expansionWith(salt: string): readonly number[] {
  const expansion = [...EXPANSION]
  const bits = CRYPT64.indexOf(salt[0]!) | (CRYPT64.indexOf(salt[1]!) << 6)
  for (let n = 0; n < 12; n++) {
    if (((bits >> n) & 1) === 0) continue
    expansion[n] = EXPANSION[n + 24]!
    expansion[n + 24] = EXPANSION[n]!
  }
  return expansion
}

function encrypt(block: Bits, roundKeys: readonly Bits[], expansion: readonly number[]): Bits {
  const permuted = permute(block, INITIAL)
  let left = permuted.subarray(0, 32)
  let right = permuted.subarray(32)
  for (const roundKey of roundKeys) {
    const mixed = xor(mix(right, roundKey, expansion), left)
    left = right
    right = mixed
  }
  const swapped = new Uint8Array(64)
  swapped.set(right)
  swapped.set(left, 32)
  return permute(swapped, FINAL)
}

/** The function f of FIPS 46-3. */
function mix(half: Bits, roundKey: Bits, expansion: readonly number[]): Bits {
  const expanded = xor(permute(half, expansion), roundKey)
  const output = new Uint8Array(32)
  for (const [box, rows] of BOXES.entries()) {
    const [a, b, c, d, e, f] = expanded.subarray(6 * box) as unknown as readonly [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    const value = rows[2 * a + f]![8 * b + 4 * c + 2 * d + e]!
    for (let i = 0; i < 4; i++) output[4 * box + i] = (value >> (3 - i)) & 1
  }
  return permute(output, PERMUTATION)
}

function xor(bits: Bits, others: Bits): Bits {
  return bits.map((bit, i) => bit ^ others[i]!)
}

function permute(bits: Bits, positions: readonly number[]): Bits {
  const permuted = new Uint8Array(positions.length)
  for (let i = 0; i < positions.length; i++) permuted[i] = bits[positions[i]! - 1]!
  return permuted
}
