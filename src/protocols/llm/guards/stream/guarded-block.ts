import type { Exchange } from '#exchange/exchange.ts'
import type { Guard, RegexGuard } from '../guard.ts'
import { failGuard } from '../guard-refusals.ts'
import { ArgumentsStage } from './arguments-stage.ts'
import { RegexStage } from './regex-stage.ts'
import { ServiceStage } from './service-stage.ts'
import type { RefuseStream, TextOutput, TextStage } from './text-stage.ts'

/** A text of an event, on its way through the guards. */
export interface StreamPiece {
  readonly original: string
  /** What the client gets of it; undefined until all guards have let it pass. */
  released: string | undefined
}

export interface BlockOptions {
  readonly guards: readonly Guard[]
  readonly exchange: Exchange
  readonly refuse: RefuseStream
  /** A service has let text pass. */
  readonly progressed: () => void
  /** What a pattern guard found. */
  readonly noted: (guard: RegexGuard, verdict: 'Mask' | 'Reject' | 'Fail') => void
  /** The output is repeated later, so that it must be kept. */
  readonly isRepeated: boolean
}

/** How the texts of a block are to be read. */
export interface BlockKind {
  readonly isArguments: boolean
  /** What matches cannot be masked. */
  readonly isFixed: boolean
  /** The end of a text that has left, which this one may go on with. */
  readonly before: string
}

/** What a match that begins in a text and goes on in the next one is recognised by, in UTF-16 units. */
const TAIL_LENGTH = 256

/** One text of a stream, in deltas: the text of a choice or of a content block, or the arguments of a call. */
export class GuardedBlock {
  readonly #options: BlockOptions
  readonly #kind: BlockKind
  readonly #first: TextStage<StreamPiece>
  readonly #services: ServiceStage<StreamPiece>[] = []
  #input = ''
  #output = ''
  #tail = ''
  /** The event with its last text. */
  lastEvent = 0
  #isFinished = false
  /** All of it has passed. */
  #isOver = false
  readonly #repeats: StreamPiece[] = []

  constructor(kind: BlockKind, options: BlockOptions) {
    this.#options = options
    this.#kind = kind
    const last: TextOutput<StreamPiece> = {
      text: (piece, text) => {
        piece.released = text
        if (options.isRepeated) this.#output += text
        this.#keepTail(text)
      },
      finish: () => this.#end(),
    }
    this.#first = options.guards.reduceRight((out, guard) => this.#stage(guard, out), last)
  }

  get isArguments(): boolean {
    return this.#kind.isArguments
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  /** The end of what has left; empty as long as a part of it is held. */
  get tail(): string {
    return this.#isOver && !this.#kind.isArguments ? this.#tail.slice(-TAIL_LENGTH) : ''
  }

  /** A verdict or a pause will release text. */
  get isAsking(): boolean {
    return this.#services.some(({ isAsking }) => isAsking)
  }

  /** The services cannot take more text now. */
  get isBusy(): boolean {
    return this.#services.some(({ isBusy }) => isBusy)
  }

  push(piece: StreamPiece): void {
    if (this.#options.isRepeated) this.#input += piece.original
    this.#first.text(piece, piece.original)
  }

  /** All text of the block once more: it gets the same masks. */
  repeat(piece: StreamPiece): void {
    this.finish()
    if (piece.original !== this.#input) return this.#checkAlone(piece)
    if (this.#isOver) piece.released = this.#output
    else this.#repeats.push(piece)
  }

  finish(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#first.finish()
  }

  /** A text that is not what came before. */
  #checkAlone(piece: StreamPiece): void {
    const block = new GuardedBlock({ ...this.#kind, before: '' }, { ...this.#options, isRepeated: false })
    block.push(piece)
    block.finish()
  }

  #keepTail(text: string): void {
    this.#tail += text
    if (this.#tail.length > 16 * TAIL_LENGTH) this.#tail = this.#tail.slice(-TAIL_LENGTH)
  }

  #end(): void {
    this.#isOver = true
    for (const piece of this.#repeats) piece.released = this.#output
  }

  #stage(guard: Guard, out: TextOutput<StreamPiece>): TextStage<StreamPiece> {
    const { isArguments, isFixed, before } = this.#kind
    if (guard.kind !== 'regex') {
      const { refuse, exchange, progressed } = this.#options
      const stage = new ServiceStage(out, {
        guard,
        before,
        isFixed: isFixed || isArguments,
        refuse,
        exchange,
        progressed,
      })
      this.#services.push(stage)
      return stage
    }
    if (!isArguments) return this.#regexStage(guard, out, isFixed, before)
    return new ArgumentsStage(out, {
      check: (within, isKey) => this.#regexStage(guard, within, isKey || isFixed),
      unreadable: () => {
        this.#options.noted(guard, 'Fail')
        this.#options.refuse(failGuard(guard, 'the arguments of a call are not JSON'))
      },
    })
  }

  #regexStage<Tag>(guard: RegexGuard, out: TextOutput<Tag>, isFixed: boolean, before = ''): TextStage<Tag> {
    const { refuse, noted } = this.#options
    return new RegexStage(out, { guard, isFixed, before, refuse, matched: (verdict) => noted(guard, verdict) })
  }
}
