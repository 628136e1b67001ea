/** A longer run of letters is treated as data that may be cut, because the search for its beginning would take too long. */
const LONGEST_WORD = 256

/**
 * Splits a text that is longer than a service accepts: at white space if there is some in the last quarter of a part, otherwise between two words.
 * Only a word of more than 256 characters may be cut, and no character.
 * @param maxLength of a part, in UTF-16 units
 * @param overlap how much of the end of a part the next one repeats, so that what a service looks for is whole in one of them; below a half of `maxLength`
 */
export function splitText(text: string, maxLength: number, overlap = 0): readonly string[] {
  const parts: string[] = []
  let from = 0
  while (text.length - from > maxLength) {
    const end = from + maxLength
    const lastQuarter = from + Math.floor((maxLength * 3) / 4)
    const at =
      lastSpace(text, end, lastQuarter) ??
      lastBoundary(text, end, Math.max(from + overlap, end - LONGEST_WORD)) ??
      beforeHalf(text, end)
    parts.push(text.slice(from, at))
    from = beforeHalf(text, at - overlap)
  }
  parts.push(text.slice(from))
  return parts
}

/** The position after the last white space between two positions. */
function lastSpace(text: string, end: number, least: number): number | undefined {
  for (let at = end; at > least; at--) if (/\s/.test(text[at - 1]!)) return at
  return undefined
}

/** The last position between two positions that is not inside of a word. */
function lastBoundary(text: string, end: number, least: number): number | undefined {
  let next = isOfWord(text, end)
  for (let at = end; at > least; at--) {
    const before = beforeHalf(text, at - 1)
    const isWord = isOfWord(text, before)
    if (beforeHalf(text, at) === at && !(next && isWord)) return at
    next = isWord
  }
  return undefined
}

/** Letters, digits, and what belongs to the character before it. */
function isOfWord(text: string, at: number): boolean {
  return /[\p{L}\p{N}\p{M}\p{Sk}_\u200d]/u.test(String.fromCodePoint(text.codePointAt(at)!))
}

function beforeHalf(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
