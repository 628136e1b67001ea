import { countAt, memberOf, textAt } from '../json/read-value.ts'

interface NumberedCall {
  readonly number: number
  readonly index: number | undefined
  id: string | undefined
  isNamed: boolean
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
    const index = countAt(piece, 'index')
    const id = textAt(piece, 'id') || undefined
    const isNamed = Boolean(textAt(memberOf(piece, 'function') ?? memberOf(piece, 'custom'), 'name'))
    const call = this.#find(index, id, isNamed) ?? this.#begin(index)
    call.id ??= id
    call.isNamed ||= isNamed
    return call.number
  }

  #find(index: number | undefined, id: string | undefined, isNamed: boolean): NumberedCall | undefined {
    if (index !== undefined) {
      return this.#known.findLast((call) => call.index === index && (call.id ?? id) === (id ?? call.id))
    }
    if (id !== undefined) return this.#known.findLast((call) => call.id === id)
    const last = this.#known.at(-1)
    return isNamed && last?.isNamed === true ? undefined : last
  }

  #begin(index: number | undefined): NumberedCall {
    const call = { number: this.#next++, index, id: undefined, isNamed: false }
    this.#known.push(call)
    if (this.#known.length > MAX_ALTERNATING) this.#known.shift()
    return call
  }
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
