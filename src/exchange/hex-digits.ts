const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Random digits, not all of which are 0. @param count a multiple of eight */
export function hexDigits(count: number, random: () => number): string {
  let digits = ''
  while (digits.length < count) {
    const word = random() * 2 ** 32
    for (let shift = 24; shift >= 0; shift -= 8) digits += PAIRS[(word >>> shift) & 0xff]
  }
  return /[^0]/.test(digits) ? digits : `${digits.slice(1)}1`
}
