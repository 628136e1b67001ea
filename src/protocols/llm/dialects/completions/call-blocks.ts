import type { AnswerSink } from '../../chat/answer-sink.ts'

/** Whether an object or a list that arrives in pieces is complete. */
export class JsonEnd {
  #depth = 0
  #inString = false
  #isEscaped = false
  isReached = false

  read(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const character = text.charCodeAt(at)
      if (this.#inString) this.#readInString(character)
      else if (character === 0x22) this.#inString = true
      else if (character === 0x7b || character === 0x5b) this.#depth++
      else if ((character === 0x7d || character === 0x5d) && --this.#depth === 0) this.isReached = true
    }
  }

  #readInString(character: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (character === 0x5c) this.#isEscaped = true
    else if (character === 0x22) this.#inString = false
  }
}

/** One call of an answer, whose pieces have the same number. */
interface OpenCall {
  readonly block: number
  readonly id: string
  readonly isCustom: boolean
  readonly end: JsonEnd
}

/** A piece of a call, from a whole answer or a stream. */
export interface CallPiece {
  readonly number: number
  readonly id: string | undefined
  readonly name: string | undefined
  readonly arguments: string | undefined
  /** The text is not JSON: the input of a custom tool. */
  readonly isCustom: boolean
  /** By which provider five recognizes the thought before the call. */
  readonly signature: string | undefined
}

/** Arguments of this length that come before a name mean that none comes. */
const MAX_NAMELESS = 64 * 1024

/**
 * Tells the calls of an answer. Their pieces may interleave. A call whose arguments are complete is closed when the next one begins, so that
 * writers which cannot interleave need not wait for the end of the answer.
 */
export class CallBlocks {
  readonly #sink: AnswerSink
  readonly #newBlock: () => number
  /** By number. */
  readonly #open = new Map<number, OpenCall>()
  /** Those of them whose arguments are complete. */
  readonly #complete = new Set<number>()
  /** What came of a call before its name. */
  #nameless: CallPiece | undefined
  hasCalls = false

  constructor(sink: AnswerSink, newBlock: () => number) {
    this.#sink = sink
    this.#newBlock = newBlock
  }

  add(piece: CallPiece): void {
    const known = this.#open.get(piece.number)
    if (known !== undefined) return this.#arguments(piece.number, known, piece.arguments)
    const whole = this.#nameless?.number === piece.number ? joined(this.#nameless, piece) : piece
    const isReady = whole.name || (whole.arguments ?? '').length > MAX_NAMELESS
    this.#nameless = isReady ? undefined : whole
    if (isReady) this.#arguments(whole.number, this.#begin(whole), whole.arguments)
  }

  #begin({ number, id = '', name = '', isCustom, signature }: CallPiece): OpenCall {
    this.hasCalls = true
    for (const complete of this.#complete) this.#close(complete)
    if (signature) {
      const thought = this.#newBlock()
      this.#sink.signature(thought, signature)
      this.#sink.close(thought)
    }
    const call: OpenCall = { block: this.#newBlock(), id, isCustom, end: new JsonEnd() }
    this.#open.set(number, call)
    this.#sink.call(call.block, id, name)
    if (isCustom) this.#sink.arguments(call.block, '{"input":"')
    return call
  }

  #arguments(number: number, { block, isCustom, end }: OpenCall, text: string | undefined): void {
    if (!text) return
    if (!isCustom) end.read(text)
    if (end.isReached) this.#complete.add(number)
    this.#sink.arguments(block, isCustom ? JSON.stringify(text).slice(1, -1) : text)
  }

  #close(number: number): void {
    const call = this.#open.get(number)
    if (call === undefined) return
    this.#open.delete(number)
    this.#complete.delete(number)
    if (call.isCustom) this.#sink.arguments(call.block, '"}')
    this.#sink.close(call.block)
  }

  /** The answer is complete. */
  close(): void {
    for (const number of this.#open.keys()) this.#close(number)
  }
}

function joined(one: CallPiece, next: CallPiece): CallPiece {
  return {
    ...next,
    id: one.id || next.id,
    arguments: (one.arguments ?? '') + (next.arguments ?? ''),
    signature: one.signature ?? next.signature,
  }
}
