const QUOTE = 0x22
const BACKSLASH = 0x5c

/** For shorter strings, a view of words costs more than looking at each byte. */
const NEAR_BYTES = 512

/** The lowest and the highest bit of each byte of a word. */
const LOW = 0x01010101
const HIGH = 0x80808080

/**
 * The position after the string whose content starts at `from`, which must be valid (RFC 8259, 7); otherwise `~position` of its fault, or, at
 * `limit` or after it, up to which the content is valid. Does not check UTF-8.
 */
export function endOfString(bytes: Uint8Array, from: number, limit: number = bytes.length): number {
  const near = Math.min(from + NEAR_BYTES, limit)
  let at = from
  for (; at < near; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) return at + 1
    if (byte < 0x20) return ~at
    if (byte !== BACKSLASH) continue
    if (!isEscape(bytes, at)) return ~at
    at += bytes[at + 1] === 0x75 ? 5 : 1
  }
  return at < limit ? endOfLong(bytes, at, limit) : ~at
}

/** The same with a look at four bytes at a time. */
function endOfLong(bytes: Uint8Array, from: number, limit: number): number {
  const shift = bytes.byteOffset & 3
  const words = new Int32Array(bytes.buffer, bytes.byteOffset - shift, (limit + shift) >> 2)
  let at = from
  for (;;) {
    // To the next word, and in one that has something else than plain text.
    const boundary = Math.min(limit, ((at + shift + 4) & ~3) - shift)
    const end = endWithin(bytes, at, boundary)
    if (end >= 0 || ~end < boundary || ~end >= limit) return end
    at = ~end
    if (((at + shift) & 3) !== 0) continue
    let word = (at + shift) >> 2
    while (word < words.length && isPlain(words[word]!)) word++
    at = (word << 2) - shift
    if (at >= limit) return ~limit
  }
}

/** None of its four bytes is a quote, a backslash or a control character. A bit may be set besides one that must be, for which nothing depends on it. */
function isPlain(word: number): boolean {
  const quotes = word ^ 0x22222222
  const backslashes = word ^ 0x5c5c5c5c
  const controls = (word - 0x20202020) & ~word
  return (HIGH & (controls | ((quotes - LOW) & ~quotes) | ((backslashes - LOW) & ~backslashes))) === 0
}

function endWithin(bytes: Uint8Array, from: number, limit: number): number {
  let at = from
  while (at < limit) {
    const byte = bytes[at]!
    if (byte === QUOTE) return at + 1
    if (byte < 0x20) return ~at
    if (byte !== BACKSLASH) at++
    else if (isEscape(bytes, at)) at += bytes[at + 1] === 0x75 ? 6 : 2
    else return ~at
  }
  return ~at
}

function isEscape(bytes: Uint8Array, at: number): boolean {
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true
    case 0x75:
      return isHex(bytes[at + 2]!) && isHex(bytes[at + 3]!) && isHex(bytes[at + 4]!) && isHex(bytes[at + 5]!)
    default:
      return false
  }
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}
