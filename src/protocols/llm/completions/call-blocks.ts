import type { AnswerSink } from '../answer-sink.ts'
import { JsonEnd } from './json-end.ts'

/** Arguments of this length that come before a name mean that none comes. */
const MAX_NAMELESS = 64 * 1024

/** One call of an answer, whose pieces have the same index. */
interface OpenCall {
  readonly block: number
  readonly id: string
  readonly isCustom: boolean
  readonly end: JsonEnd
  isClosed: boolean
}

/** A piece of a call, from a whole answer or a stream. */
export interface CallPiece {
  readonly index: number
  readonly id: string | undefined
  readonly name: string | undefined
  readonly arguments: string | undefined
  /** The text is not JSON: the input of a custom tool. */
  readonly isCustom: boolean
  /** By which provider five recognizes the thought before the call. */
  readonly signature: string | undefined
}

/**
 * Tells the calls of an answer. Their pieces may interleave. A call whose arguments are complete is closed when the next one begins, so that
 * writers which cannot interleave need not wait for the end of the answer.
 */
export class CallBlocks {
  readonly #sink: AnswerSink
  readonly #newBlock: () => number
  readonly #calls = new Map<number, OpenCall>()
  readonly #open = new Set<OpenCall>()
  /** What came of calls before their names. */
  readonly #nameless = new Map<number, { id: string | undefined; arguments: string }>()

  constructor(sink: AnswerSink, newBlock: () => number) {
    this.#sink = sink
    this.#newBlock = newBlock
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0
  }

  add(piece: CallPiece): void {
    const known = this.#calls.get(piece.index)
    // Some providers number all calls 0, and tell them apart by their ids.
    const continues = known !== undefined && (!piece.id || piece.id === known.id)
    if (continues) return this.#arguments(known, piece.arguments)
    const held = this.#nameless.get(piece.index) ?? { id: undefined, arguments: '' }
    held.id ??= piece.id
    held.arguments += piece.arguments ?? ''
    this.#nameless.set(piece.index, held)
    if (!piece.name && held.arguments.length < MAX_NAMELESS) return
    this.#nameless.delete(piece.index)
    this.#arguments(this.#begin(piece, held.id ?? ''), held.arguments)
  }

  #begin({ index, name, isCustom, signature }: CallPiece, id: string): OpenCall {
    for (const call of this.#open) if (call.end.isReached) this.#close(call)
    if (signature) {
      const thought = this.#newBlock()
      this.#sink.signature(thought, signature)
      this.#sink.close(thought)
    }
    const call: OpenCall = { block: this.#newBlock(), id, isCustom, end: new JsonEnd(), isClosed: false }
    this.#calls.set(index, call)
    this.#open.add(call)
    this.#sink.call(call.block, id, name ?? '')
    if (isCustom) this.#sink.arguments(call.block, '{"input":"')
    return call
  }

  #arguments(call: OpenCall, text: string | undefined): void {
    if (!text || call.isClosed) return
    if (!call.isCustom) call.end.read(text)
    this.#sink.arguments(call.block, call.isCustom ? JSON.stringify(text).slice(1, -1) : text)
  }

  #close(call: OpenCall): void {
    this.#open.delete(call)
    call.isClosed = true
    if (call.isCustom) this.#sink.arguments(call.block, '"}')
    this.#sink.close(call.block)
  }

  /** The answer is complete. */
  close(): void {
    for (const call of this.#open) this.#close(call)
  }
}
