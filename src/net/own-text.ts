/** A shorter part of a string is always a copy in V8 (`SlicedString::kMinLength`). */
const SHORTEST_PART = 13

const block = Buffer.allocUnsafeSlow(4096)

/**
 * The same byte text (`base/byte-text.ts`) in memory of its own. V8 represents a part of a string as a reference to the whole: an address of 20
 * characters, kept for a while, would keep the received head that it is from, with all its credentials.
 */
export function ownText(byteText: string): string {
  if (byteText.length < SHORTEST_PART) return byteText
  if (byteText.length > block.length) return Buffer.from(byteText, 'latin1').toString('latin1')
  return block.toString('latin1', 0, block.write(byteText, 'latin1'))
}
