/** The length of a text in UTF-8, in bytes; of a long one only that it is at least `enough`. */
export function utf8Length(text: string, enough = Number.POSITIVE_INFINITY): number {
  let length = text.length
  if (length >= enough) return length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    // Half of a character in two units is two of its four bytes.
    if (unit >= 0x80) length += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return length
}
