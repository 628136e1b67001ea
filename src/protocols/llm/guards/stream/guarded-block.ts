import type { Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { askedTogether } from '../ask-service.ts'
import type { Guard } from '../guard.ts'
import { PartedStage, type WorkQueue } from '../stages/parted-stage.ts'
import { RegexStage, type RuleObserver } from '../stages/regex-stage.ts'
import { ServiceStage } from '../stages/service-stage.ts'
import type { TextOutput, TextStage } from '../stages/text-stage.ts'
import { HeldArguments } from './held-arguments.ts'
import type { KeptText } from './kept-text.ts'

/** A text of an event, on its way through the guards. */
export interface StreamPiece {
  readonly original: string
  /** What the client gets of it; undefined until all guards have let it pass. */
  released: string | undefined
}

/** `later` receives work for a long text that a service has let pass. */
export interface BlockOptions extends RuleObserver, WorkQueue {
  readonly guards: readonly Guard[]
  readonly exchange: Exchange
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal
  /** A service has let text pass. */
  readonly progressed: () => void
  /** No guard can check the rest of the stream. */
  readonly fail: (detail: string) => void
}

/** One text of a stream, in deltas: the text of a choice or of a content block, or the arguments of a call. It is checked alone. */
export class GuardedBlock implements TextOutput<StreamPiece>, WorkQueue {
  /** The same for all texts of the block (`EventText.block`). */
  readonly key: string
  readonly sequence: string | undefined
  /** What the client got; undefined: no event repeats it. */
  readonly kept: KeptText | undefined
  /** The number of the event with its last text. */
  lastEvent = 0
  readonly #options: BlockOptions
  readonly #isFixed: boolean
  /** Undefined when all text has passed: held events keep their blocks in memory, and stages are large. */
  #first: TextStage<StreamPiece> | undefined
  #services: readonly (ServiceStage<StreamPiece> | HeldArguments<StreamPiece>)[] = []
  /** The rest of the work for the text that is being pushed. */
  #rest: Steps<void> | undefined
  #hasText = false
  #isFinished = false
  /** Pieces that repeat the text, and came before all of it had passed. */
  #repeats: StreamPiece[] = []

  constructor({ block, form, place, sequence }: EventText, options: BlockOptions, kept?: KeptText) {
    this.key = block
    this.sequence = sequence
    this.kept = kept
    this.#options = options
    this.#isFixed = !place.canChange
    this.#first = form === 'arguments' || form === 'input' ? this.#holdArguments() : this.#connect()
  }

  get hasText(): boolean {
    return this.#hasText
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  /** A verdict or a pause will release text. */
  get isAsking(): boolean {
    return this.#services.some(({ isAsking }) => isAsking)
  }

  /** The services cannot take more text now. */
  get isBusy(): boolean {
    return this.#services.some((service) => service instanceof ServiceStage && service.isBusy)
  }

  /** Services judge without a pause, because no text arrives until some has been released. */
  judgeNow(): void {
    for (const service of this.#services) if (service instanceof ServiceStage) service.judgeNow()
  }

  /** @returns the rest of the work for a long text */
  push(piece: StreamPiece): Steps<void> | undefined {
    this.#hasText ||= piece.original !== ''
    this.#first!.text(piece, piece.original)
    const rest = this.#rest
    this.#rest = undefined
    return rest
  }

  /** An event repeats the whole text of a block that is over: the client gets the text that it got before. */
  repeat(piece: StreamPiece): void {
    if (this.#first === undefined) this.#releaseKept(piece)
    else this.#repeats.push(piece)
  }

  /** No text follows. */
  end(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#first!.finish()
  }

  /** A text has passed. */
  text(piece: StreamPiece, text: string): void {
    piece.released = text
    this.kept?.append(text)
  }

  /** All of it has passed. */
  finish(): void {
    this.#first = undefined
    this.#services = []
    for (const piece of this.#repeats.splice(0)) this.#releaseKept(piece)
  }

  later(work: Steps<void>): void {
    this.#rest = work
  }

  #releaseKept(piece: StreamPiece): void {
    piece.released = this.kept?.text
    if (piece.released === undefined) this.#options.fail('a text that was too long to be kept is repeated')
  }

  #holdArguments(): TextStage<StreamPiece> {
    const held = new HeldArguments<StreamPiece>(this, this.#options)
    this.#services = [held]
    return held
  }

  /** Connects the guards. Long texts pass them in parts, except services that mask: their masks apply to whole texts. */
  #connect(): TextStage<StreamPiece> {
    const { guards } = this.#options
    let out: TextOutput<StreamPiece> = this
    for (let end = guards.length; end > 0; ) {
      let start = end - 1
      const isMask = masksByService(guards[start]!)
      while (!isMask && start > 0 && !masksByService(guards[start - 1]!)) start--
      const within = guards.slice(start, end)
      const build = (inner: TextOutput<StreamPiece>) => this.#stages(within, inner)
      out = isMask ? build(out) : new PartedStage(out, build, start === 0 ? this : this.#options)
      end = start
    }
    return out
  }

  #stages(guards: readonly Guard[], out: TextOutput<StreamPiece>): TextStage<StreamPiece> {
    const [guard] = guards
    if (guard === undefined) return out
    const isFixed = this.#isFixed
    if (guard.kind === 'regex') {
      return new RegexStage(this.#stages(guards.slice(1), out), { guard, isFixed, stream: this.#options })
    }
    const together = askedTogether(guards)
    const { refuse, exchange, signal } = this.#options
    const options = { guards: together, isFixed, refuse, exchange, signal, progressed: () => this.#servicePassed() }
    const stage = new ServiceStage(this.#stages(guards.slice(together.length), out), options)
    this.#services = [...this.#services, stage]
    return stage
  }

  /** The text has already waited for a pause, so that the next service needs none. */
  #servicePassed(): void {
    this.judgeNow()
    this.#options.progressed()
  }
}

function masksByService(guard: Guard): boolean {
  return guard.kind !== 'regex' && guard.service.masks
}
