import { countAt, memberOf, textAt } from '../json/read-value.ts'
import { ABOVE_INDEXES, BlockNumbers } from './block-numbers.ts'

interface NumberedCall {
  readonly number: number
  readonly index: number | undefined
  id: string | undefined
  isNamed: boolean
  /** The first one with its index. */
  readonly isFirst: boolean
}

/** Pieces of so many calls may alternate. */
const MAX_ALTERNATING = 256

/**
 * Numbers the calls of a message that comes in pieces. Most providers do so themselves, by `index`. Some number all calls 0, and tell them apart by
 * their ids. Gemini, and others, do not number them: each piece with a name is then a whole call, with an id of its own or none, as official
 * clients of such providers read it, and a piece without both continues the last call.
 */
export class CallNumbers {
  readonly #known: NumberedCall[] = []
  #next = 0

  /** @param piece an element of `tool_calls` of a chunk */
  of(piece: unknown): number {
    const names = namesIn(piece)
    return this.#add(this.#find(names), names).number
  }

  /**
   * The index of the call if it is the first one with this index, otherwise a number above all indexes: calls with an index of their own need not be
   * remembered. A piece with a new id but no name continues the last call.
   */
  placeOf(piece: unknown): number {
    const names = namesIn(piece)
    const last = names.isNamed ? undefined : this.#find({ ...names, id: undefined })
    const { index, isFirst, number } = this.#add(this.#find(names) ?? last, names)
    return isFirst && index !== undefined ? index : ABOVE_INDEXES + number
  }

  #find({ index, id, isNamed }: CallNames): NumberedCall | undefined {
    if (index !== undefined) {
      return this.#known.findLast((call) => call.index === index && (call.id ?? id) === (id ?? call.id))
    }
    if (id !== undefined) return this.#known.findLast((call) => call.id === id)
    const last = this.#known.at(-1)
    return isNamed && last?.isNamed === true ? undefined : last
  }

  #add(known: NumberedCall | undefined, { index, id, isNamed }: CallNames): NumberedCall {
    const call = known ?? this.#begin(index)
    call.id ??= id
    call.isNamed ||= isNamed
    return call
  }

  #begin(index: number | undefined): NumberedCall {
    const isFirst = !this.#known.some((call) => call.index === index)
    const call = { number: this.#next++, index, id: undefined, isNamed: false, isFirst }
    this.#known.push(call)
    if (this.#known.length > MAX_ALTERNATING) this.#known.shift()
    return call
  }
}

/** What tells a piece of a call from those of others. */
interface CallNames {
  readonly index: number | undefined
  readonly id: string | undefined
  readonly isNamed: boolean
}

function namesIn(piece: unknown): CallNames {
  const called = memberOf(piece, 'function') ?? memberOf(piece, 'custom')
  const isNamed = Boolean(textAt(called, 'name'))
  return { index: countAt(piece, 'index'), id: textAt(piece, 'id') || undefined, isNamed }
}

/** As many as the API makes. */
const MAX_CHOICES = 128

/** The same for all choices of a stream. */
export class CallsOfChoices {
  readonly #byChoice = new Map<number, CallNumbers>()

  of(choice: number): CallNumbers {
    const numbers = this.#byChoice.get(choice) ?? new CallNumbers()
    if (this.#byChoice.size < MAX_CHOICES) this.#byChoice.set(choice, numbers)
    return numbers
  }
}

/** What of one stream tells apart the calls and blocks to which its provider gives the same `index`, or none. */
export class StreamNumbers {
  readonly calls = new CallsOfChoices()
  readonly blocks = new BlockNumbers()
}
