/**
 * Splits a text that is longer than a service accepts: at white space if there is some in the last quarter of a part, and never inside of a
 * character.
 * @param maxLength of a part, in UTF-16 units
 * @param overlap how much of the end of a part the next one repeats, so that what a service looks for is whole in one of them; below a half of `maxLength`
 */
export function splitText(text: string, maxLength: number, overlap = 0): readonly string[] {
  const parts: string[] = []
  let from = 0
  while (text.length - from > maxLength) {
    const end = from + maxLength
    const at = lastSpace(text, end, from + Math.floor((maxLength * 3) / 4)) ?? beforeHalf(text, end)
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

function beforeHalf(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
