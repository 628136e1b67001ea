export function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800
}

export function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00
}

const COMBINING_MARK = /^\p{M}/u

/** Whether `index` is within a surrogate pair, or before a mark that belongs to the character before it. */
function splitsCharacter(text: string, index: number): boolean {
  if (isLowSurrogate(text, index) && isHighSurrogate(text, index - 1)) return true
  return text.charCodeAt(index) >= 0x300 && COMBINING_MARK.test(text.slice(index, index + 2))
}

/** The first position from `from` on after which at most `limit` bytes of UTF-8 follow, and which splits no character. */
export function cutForLimit(text: string, from: number, limit: number): number {
  if ((text.length - from) * 3 <= limit) return from
  let cut = text.length
  let bytes = 0
  while (cut > from) {
    bytes += unitBytes(text.charCodeAt(cut - 1))
    if (bytes > limit) break
    cut--
  }
  if (cut === from) return from
  while (cut < text.length && splitsCharacter(text, cut)) cut++
  return cut
}

/** Each half of a surrogate pair counts as half of its four bytes. */
function unitBytes(unit: number): number {
  if (unit < 0x80) return 1
  return unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3
}
