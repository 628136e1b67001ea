import type { BodyClaim } from '#net/body/body-memory.ts'
import {
  type AnswerError,
  type AnswerSink,
  type AnswerUsage,
  type Citation,
  type StopReason,
  textOf,
} from './answer-sink.ts'

/** Memory overhead of a piece, so that many short ones are bounded, too. */
const PIECE = 16

/** Open at the same time; no provider needs as many. */
const MAX_OPEN_BLOCKS = 1000

/** Of so many calls of an answer, ids are compared. */
const MAX_KNOWN_IDS = 1000

/** What a block consists of. */
type Kind = 'text' | 'thinking' | 'redacted' | 'call'

interface OpenBlock {
  readonly kind: Kind
  /** For the receiver. */
  readonly number: number
}

const NONE = -1

export interface AnswerEndOptions {
  /** Memory for the answer if its writer keeps it; undefined: the writer keeps nothing. */
  readonly claim: BodyClaim | undefined
  /** Most that such a writer may keep, in UTF-16 units. */
  readonly maxKept: number
  /** Removes from an error what the client must not see; unset: nothing. */
  readonly clean?: (error: AnswerError) => AnswerError
}

/**
 * Brings an answer in order, whatever its provider sends. It ends once: what follows its end or its error is dropped, blocks that were left
 * open are closed, and an answer that ends without a reason to stop becomes an error (decision B31). Each block has contents of one kind and a
 * number of its own: those of another kind, another call, and what follows a closed block, begin a new one. Arguments without a call are dropped.
 * Calls with the same id get new ones, because clients assign results by them.
 */
export class AnswerEnd implements AnswerSink {
  readonly #sink: AnswerSink
  readonly #options: AnswerEndOptions
  /** By the numbers of the reader. */
  readonly #open = new Map<number, OpenBlock>()
  /** Of calls; most answers have none. */
  #ids: Set<string> | undefined
  #blocks = 0
  #kept = 0
  #isStarted = false
  #isFinished = false
  #isEnded = false
  #failure: AnswerError | undefined
  #isCut = false

  constructor(sink: AnswerSink, options: AnswerEndOptions) {
    this.#sink = sink
    this.#options = options
  }

  /** What went wrong, also behind the end of the answer. */
  get failure(): AnswerError | undefined {
    return this.#failure
  }

  /** The provider said why it stopped: the receiver has all of the answer. */
  get isFinished(): boolean {
    return this.#isFinished
  }

  /** Nothing more can follow. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The failure is that the answer is incomplete; nobody reported an error. */
  get isCut(): boolean {
    return this.#isCut
  }

  start(id: string, model: string): void {
    if (this.#isStarted || this.#isEnded) return
    this.#isStarted = true
    this.#sink.start(id, model)
  }

  text(block: number, text: string): void {
    const number = this.#take(block, 'text', text)
    if (number !== NONE) this.#sink.text(number, text)
  }

  refusal(block: number, text: string): void {
    const number = this.#take(block, 'text', text)
    if (number !== NONE) this.#sink.refusal(number, text)
  }

  thinking(block: number, text: string): void {
    const number = this.#take(block, 'thinking', text)
    if (number !== NONE) this.#sink.thinking(number, text)
  }

  signature(block: number, text: string): void {
    const number = this.#take(block, 'thinking', text)
    if (number !== NONE) this.#sink.signature(number, text)
  }

  redacted(block: number, data: string): void {
    this.close(block)
    const number = this.#take(block, 'redacted', data)
    if (number !== NONE) this.#sink.redacted(number, data)
  }

  call(block: number, id: string, name: string): void {
    this.close(block)
    const number = this.#take(block, 'call', id + name)
    if (number !== NONE) this.#sink.call(number, this.#newOf(id), name)
  }

  /** The id of a call; empty if an earlier one has it, so that the writer makes another. */
  #newOf(id: string): string {
    this.#ids ??= new Set()
    if (this.#ids.has(id)) return ''
    if (this.#ids.size < MAX_KNOWN_IDS) this.#ids.add(id)
    return id
  }

  arguments(block: number, text: string): void {
    if (this.#open.get(block)?.kind !== 'call') return
    const number = this.#take(block, 'call', text)
    if (number !== NONE) this.#sink.arguments(number, text)
  }

  citation(block: number, citation: Citation): void {
    const number = this.#take(block, 'text', textOf(citation))
    if (number !== NONE) this.#sink.citation(number, citation)
  }

  close(block: number): void {
    const open = this.#open.get(block)
    if (open === undefined || this.#isEnded) return
    this.#open.delete(block)
    this.#sink.close(open.number)
  }

  finish(reason: StopReason, stopSequence?: string): void {
    if (this.#isFinished || this.#isEnded) return
    this.start('', '')
    this.#isFinished = true
    for (const { number } of this.#open.values()) this.#sink.close(number)
    this.#open.clear()
    this.#sink.finish(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    if (this.#isEnded) return
    this.start('', '')
    this.#sink.usage(usage)
  }

  /** Behind the reason to stop the answer is complete, so that it ends like any other. */
  fail(reported: AnswerError): void {
    if (this.#isEnded) return
    const error = this.#options.clean?.(reported) ?? reported
    this.#failure = error
    if (this.#isFinished) return this.end()
    this.start('', '')
    this.#isEnded = true
    this.#sink.fail(error)
    this.#sink.end()
  }

  /** The answer is complete if the provider said why it stopped. */
  end(): void {
    if (this.#isEnded) return
    if (!this.#isFinished) return this.#cut("the provider's stream ended before the response was complete")
    this.#isEnded = true
    this.#sink.end()
  }

  /** The connection to the provider broke. A complete answer ends all the same. */
  break(): void {
    if (this.#isFinished) this.end()
    else this.#cut("the provider's stream was interrupted")
  }

  /** There is no memory for what the answer needs. */
  overflow(): void {
    this.fail(incomplete("the provider's response is too large to be translated"))
  }

  #cut(message: string): void {
    this.#isCut = true
    this.fail(incomplete(message))
  }

  /** @returns the number of the block for the receiver; none if the contents may not pass */
  #take(block: number, kind: Kind, contents: string): number {
    if (this.#isFinished || this.#isEnded) return NONE
    this.start('', '')
    let open = this.#open.get(block)
    if (open?.kind !== kind) {
      this.close(block)
      open = { kind, number: this.#blocks++ }
      this.#open.set(block, open)
    }
    if (this.#open.size <= MAX_OPEN_BLOCKS && this.#hasRoom(contents.length)) return open.number
    this.overflow()
    return NONE
  }

  #hasRoom(length: number): boolean {
    const { claim, maxKept } = this.#options
    if (claim === undefined) return true
    // What a writer keeps for each piece, besides its contents.
    const added = length + PIECE
    this.#kept += added
    return this.#kept <= maxKept && claim.take(added)
  }
}

function incomplete(message: string): AnswerError {
  return { status: 502, type: undefined, message, code: 'upstream-failed', param: undefined }
}
