/** Cells of 64 bits that an exemplar takes in shared memory. */
export const EXEMPLAR_CELLS = 6

// The 32-bit words of an exemplar.
const VERSION = 0
const TIME = 2
const VALUE = 4
const TRACE = 6
const SPAN = 10
const WORDS = 2 * EXEMPLAR_CELLS

/** The words of some exemplars. @param offset of their first cell in the page */
export function exemplarWords(page: Float64Array<SharedArrayBuffer>, offset: number, count: number): Int32Array {
  return new Int32Array(page.buffer, offset * page.BYTES_PER_ELEMENT, count * WORDS)
}

/** How often a reader tries again while a worker writes. */
const MAX_TRIES = 10

const number = new Float64Array(1)
const numberWords = new Int32Array(number.buffer)

/** The span of a traced request or call; both ids are lower-case hex digits. */
interface SpanIds {
  readonly traceId: string
  readonly spanId: string
}

/** The span in which values were observed. Only values of traced requests have one, so the others cost nothing. */
export class Exemplar {
  readonly #time: number
  readonly #ids: readonly number[]

  /** @param timeMs of the observation, since the epoch */
  constructor({ traceId, spanId }: SpanIds, timeMs: number) {
    this.#time = timeMs
    this.#ids = [0, 8, 16, 24].map((at) => wordAt(traceId, at)).concat(wordAt(spanId, 0), wordAt(spanId, 8))
  }

  /**
   * Replaces the exemplar of a bucket or counter. The version is odd meanwhile, so that a reader in another thread never mixes two of them.
   * @param slot index of the exemplar in `words`
   */
  write(words: Int32Array, slot: number, value: number): void {
    const start = slot * WORDS
    Atomics.add(words, start + VERSION, 1)
    storeNumber(words, start + TIME, this.#time)
    storeNumber(words, start + VALUE, value)
    for (let i = 0; i < this.#ids.length; i++) Atomics.store(words, start + TRACE + i, this.#ids[i]!)
    Atomics.add(words, start + VERSION, 1)
  }
}

/** An exemplar as a reader in another thread sees it. */
export interface ReadExemplar extends SpanIds {
  readonly timeMs: number
  readonly value: number
}

/** @returns undefined: there is none that is newer, or a worker replaces it all the time */
export function readExemplar(words: Int32Array, slot: number, newerThanMs = 0): ReadExemplar | undefined {
  const start = slot * WORDS
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const version = Atomics.load(words, start + VERSION)
    if (version === 0) return undefined
    const timeMs = loadNumber(words, start + TIME)
    const value = loadNumber(words, start + VALUE)
    const isNewer = timeMs > newerThanMs
    const traceId = isNewer ? loadHex(words, start + TRACE, 4) : ''
    const spanId = isNewer ? loadHex(words, start + SPAN, 2) : ''
    const isWhole = version % 2 === 0 && Atomics.load(words, start + VERSION) === version
    if (isWhole) return isNewer ? { timeMs, value, traceId, spanId } : undefined
  }
  return undefined
}

function wordAt(digits: string, at: number): number {
  return Number.parseInt(digits.slice(at, at + 8), 16) | 0
}

function storeNumber(words: Int32Array, at: number, value: number): void {
  number[0] = value
  Atomics.store(words, at, numberWords[0]!)
  Atomics.store(words, at + 1, numberWords[1]!)
}

function loadNumber(words: Int32Array, at: number): number {
  numberWords[0] = Atomics.load(words, at)
  numberWords[1] = Atomics.load(words, at + 1)
  return number[0]!
}

function loadHex(words: Int32Array, at: number, count: number): string {
  let digits = ''
  for (let i = at; i < at + count; i++) digits += (Atomics.load(words, i) >>> 0).toString(16).padStart(8, '0')
  return digits
}
