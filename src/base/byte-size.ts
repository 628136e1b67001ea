const SUFFIX: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

const QUANTITY = /^([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([eE][+-]?[0-9]+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$/

/** The largest `ByteSize`: it must fit an unsigned 32-bit value (specification 1, 2.2). */
const MAX_BYTE_SIZE = 4_294_967_295

/**
 * Parses a `ByteSize` (specification 1, 2.2): a Kubernetes quantity or an integer, with fractions rounded up.
 * @returns bytes in 1..4294967295, or undefined if the format or the range is wrong
 */
export function parseByteSize(value: string | number): number | undefined {
  const bytes = typeof value === 'number' ? value : parseQuantity(value)
  if (typeof value === 'number' && !Number.isInteger(value)) return undefined
  const whole = Math.ceil(bytes)
  return whole >= 1 && whole <= MAX_BYTE_SIZE ? whole : undefined
}

/** The number that a Kubernetes quantity without sign stands for; NaN for anything else. */
export function parseQuantity(text: string): number {
  if (text.length > 32) return Number.NaN
  const match = QUANTITY.exec(text)
  if (match === null) return Number.NaN
  const [, digits, exponent, suffix = ''] = match
  return exponent === undefined ? Number(digits) * SUFFIX[suffix]! : Number(`${digits}${exponent}`)
}
