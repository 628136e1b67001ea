const DIGITS_AT_ONCE = 8

/** Random digits, not all of which are 0. @param count a multiple of eight */
export function hexDigits(count: number, random: () => number): string {
  let digits = ''
  while (digits.length < count) {
    digits += Math.floor(random() * 16 ** DIGITS_AT_ONCE)
      .toString(16)
      .padStart(DIGITS_AT_ONCE, '0')
  }
  return /[^0]/.test(digits) ? digits : `${digits.slice(1)}1`
}
