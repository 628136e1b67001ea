/** Longer runs of ASCII without a space count as this long: they are data in base64, which models do not read as text. */
const MAX_RUN = 1000

/** Names are shorter; a longer run of letters and digits is data. */
const MAX_NAME = 30

/** Of a longer text, this much is read: parts at equal distances. */
const MAX_READ = 200_000
const PARTS = 20

/** Characters of audio in base64 for each token: one stands for 50 ms, of 24,000 samples of 16 bits each second. */
export const AUDIO_PER_TOKEN = 3200

/**
 * Estimates the tokens of a text, in time that `MAX_READ` bounds. It needs no vocabulary: charging must be synchronous, and it needs an
 * estimate only where a provider reports nothing. It is meant not to be below 85% of what the newer vocabulary (o200k) counts for natural
 * text, code, data and emoji, and is usually above. It is below for rare characters of Chinese and random letters.
 */
export function estimateTokens(text: string): number {
  if (text.length <= MAX_READ) return Math.ceil(weigh(text, 0, text.length))
  const part = MAX_READ / PARTS
  const distance = (text.length - part) / (PARTS - 1)
  let weight = 0
  for (let i = 0; i < PARTS; i++) {
    const start = Math.floor(i * distance)
    weight += weigh(text, start, start + part)
  }
  return Math.ceil((weight * text.length) / MAX_READ)
}

/** Kinds of characters. A token has characters of one kind; a single space belongs to the word after it. */
const LOWER = 0
const UPPER = 1
const DIGIT = 2
const SPACE = 3
const SIGN = 4
/** Letters of other scripts, emoji and others: each has a weight. */
const OTHER = 5

function weigh(text: string, start: number, end: number): number {
  let tokens = 0
  let sinceSpace = 0
  let sinceBreak = 0
  let before = -1
  for (let at = start; at < end; ) {
    const from = at
    const kind = kindOf(text.charCodeAt(at))
    if (kind === OTHER) {
      let weight = 0
      while (at < end && kindOf(text.charCodeAt(at)) === OTHER) weight += WEIGHTS[text.charCodeAt(at++) >> PAGE_BITS]!
      tokens += Math.ceil(weight / SCALE)
      sinceSpace = 0
      sinceBreak = 0
    } else {
      at = kind <= UPPER ? endOfWord(text, at, end) : endOfRun(text, at, end, kind)
      if (kind === SPACE) sinceSpace = 0
      const counted = Math.min(at - from, Math.max(0, MAX_RUN - sinceSpace))
      sinceSpace += at - from
      sinceBreak = kind === SPACE || (kind === SIGN && !isInData(text.charCodeAt(from))) ? 0 : sinceBreak + at - from
      if (kind > UPPER) tokens += tokensOfRun(kind, counted)
      else if (sinceBreak > MAX_NAME) tokens += counted / 1.8
      else if (counted > 0) tokens += tokensOfWord(text, from, from + counted)
      // A number does not begin with the space before it.
      if (kind === DIGIT && before === SPACE) tokens++
    }
    before = kind
  }
  return tokens
}

/** Signs of base64. */
function isInData(code: number): boolean {
  return code === 0x2b || code === 0x2f || code === 0x3d || code === 0x2d || code === 0x5f
}

function endOfRun(text: string, start: number, end: number, kind: number): number {
  let at = start + 1
  while (at < end && kindOf(text.charCodeAt(at)) === kind) at++
  return at
}

/** Words end before a capital letter that follows a small one. */
function endOfWord(text: string, start: number, end: number): number {
  let at = start
  while (at < end && kindOf(text.charCodeAt(at)) === UPPER) at++
  while (at < end && kindOf(text.charCodeAt(at)) === LOWER) at++
  return at
}

/** Usual words are one token. Words with marks are of languages with fewer words in vocabularies, and those with capitals are less usual. */
function tokensOfWord(text: string, start: number, end: number): number {
  let capitals = 0
  let marks = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0xc0) marks++
    else if (code < 0x61) capitals++
  }
  const length = end - start
  if (marks > 0) return Math.max(1, length / 2.8)
  if (capitals > 1) return Math.max(1, length / 2.5)
  return length <= 7 ? 1 : length / 5
}

function tokensOfRun(kind: number, length: number): number {
  switch (kind) {
    case DIGIT:
      return Math.ceil(length / 3)
    case SPACE:
      return length === 1 ? 0 : Math.ceil(length / 8)
    default:
      return Math.ceil(length / 1.8)
  }
}

function kindOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return LOWER
  if (code >= 0x41 && code <= 0x5a) return UPPER
  if (code >= 0x30 && code <= 0x39) return DIGIT
  if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) return SPACE
  if (code < 0xc0) return SIGN
  // Latin letters with marks are in the same words as those without.
  return code < 0x250 || (code >= 0x1e00 && code < 0x1f00) ? LOWER : OTHER
}

/** The weights of characters, by pages of 64 of them, in parts of a token. */
const PAGE_BITS = 6
const SCALE = 20
const WEIGHTS = weightsOf([
  // Cyrillic, Greek, Arabic, scripts of India: words.
  [0x0250, 0.4],
  // Marks that are combined with letters.
  [0x0300, 2],
  [0x0380, 0.4],
  // Thai.
  [0x0e00, 0.5],
  // Lao, Tibetan.
  [0x0e80, 2],
  // Burmese, Georgian.
  [0x1000, 0.6],
  [0x1100, 2.5],
  // Khmer.
  [0x1780, 0.8],
  [0x1800, 2.5],
  // Punctuation, joiners of emoji.
  [0x2000, 1],
  [0x2080, 1.6],
  // Frames.
  [0x2500, 0.8],
  [0x2580, 1.5],
  // Kana, Chinese.
  [0x3000, 1],
  [0x3400, 2.5],
  [0x4e00, 1],
  [0xa000, 2.5],
  // Korean.
  [0xac00, 1],
  // First halves of pairs, of emoji and of rare Chinese characters; then the second halves.
  [0xd800, 1.3],
  [0xd840, 2.4],
  [0xdc00, 1.3],
  [0xe000, 3],
  [0xf900, 2],
  // Wide and narrow forms.
  [0xff00, 1.7],
])

/** @param from the first character of each weight */
function weightsOf(from: readonly (readonly [first: number, tokens: number])[]): Uint8Array {
  const weights = new Uint8Array(2 ** (16 - PAGE_BITS))
  for (const [first, tokens] of from) weights.fill(tokens * SCALE, first >> PAGE_BITS)
  return weights
}
