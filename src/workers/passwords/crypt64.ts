/** The alphabet of crypt(3); it is not that of base64. */
export const CRYPT64 = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The lowest bits of a number as text, six per character, lowest first. */
export function crypt64(bits: number, characters: number): string {
  let text = ''
  for (let i = 0; i < characters; i++) text += CRYPT64[(bits >>> (6 * i)) & 63]
  return text
}
