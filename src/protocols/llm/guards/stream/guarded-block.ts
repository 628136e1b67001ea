import type { Steps } from '#base/in-slices.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { TextPlace } from '../../texts/body-texts.ts'
import { askedTogether } from '../ask-together.ts'
import type { Guard, RegexGuard, ServiceGuard } from '../guard.ts'
import { type ArgumentChecks, type ArgumentPiece, ArgumentsStage } from '../stages/arguments-stage.ts'
import { PartedStage, type WorkQueue } from '../stages/parted-stage.ts'
import { RegexChecks } from '../stages/regex-checks.ts'
import { RegexStage, type RuleObserver } from '../stages/regex-stage.ts'
import { ServiceChecks } from '../stages/service-checks.ts'
import { ServiceStage } from '../stages/service-stage.ts'
import type { TextOutput, TextStage } from '../stages/text-stage.ts'
import { RepeatedText, type RepeatMemory } from './repeated-text.ts'
import type { SequencedText } from './text-sequences.ts'

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
  /** For texts, because later events repeat them. */
  readonly repeats: RepeatMemory | undefined
}

/** How the texts of a block are to be read. */
export interface BlockKind {
  /** The same for all texts of the block (`EventText.block`). */
  readonly key: string
  readonly form: TextPlace['form']
  /** What matches cannot be masked. */
  readonly isFixed: boolean
  /** Undefined: it is a text of one event. */
  readonly text: SequencedText | undefined
  /** The beginning of the text, which seemed to be over. */
  readonly begun: GuardedBlock | undefined
}

/** What a match that begins in a text and goes on in the next one is recognised by, in UTF-16 units. */
const TAIL_LENGTH = 256

/**
 * One text of a stream, in deltas: the text of a choice or of a content block, or the arguments of a call. A stream may have very many at a
 * time, so that what few of them need is made when they do.
 */
export class GuardedBlock implements TextOutput<StreamPiece>, WorkQueue {
  readonly #options: BlockOptions
  readonly #kind: Omit<BlockKind, 'begun'>
  /** Undefined: all text has passed. Events that are held refer to their blocks, and stages take much memory. */
  #first: TextStage<StreamPiece> | undefined
  /** Texts that came before the beginning of the text had passed. */
  #early: StreamPiece[] | undefined
  /** What goes on with the text begins. */
  #next: (() => void) | undefined
  #services: readonly Pick<ServiceStage<StreamPiece>, 'isAsking' | 'isBusy' | 'judgeNow'>[] = []
  #arguments: readonly ArgumentsStage<StreamPiece>[] = []
  /** Of the text that is pushed. */
  #rest: Steps<void> | undefined
  readonly #repeated: RepeatedText | undefined
  #tail = ''
  /** The event with its last text. */
  lastEvent = 0
  #isFinished = false
  /** All of it has passed. */
  #isOver = false
  #isOverJson = false
  #repeats: StreamPiece[] | undefined

  constructor({ begun, ...kind }: BlockKind, options: BlockOptions) {
    this.#options = options
    this.#kind = kind
    if (kind.text !== undefined) kind.text.block = this
    const { repeats } = options
    this.#repeated = begun === undefined ? repeats && new RepeatedText(repeats) : begun.#repeated
    if (begun !== undefined) kind.text?.reopen()
    if (begun === undefined || begun.isOver) this.#begin()
    else this.#waitFor(begun)
  }

  #waitFor(begun: GuardedBlock): void {
    const early: StreamPiece[] = []
    this.#early = early
    begun.#next = () => {
      this.#early = undefined
      this.#begin()
      for (const piece of early) {
        const rest = this.#check(piece)
        if (rest !== undefined) this.#options.later(rest)
      }
      if (this.#isFinished) this.#first!.finish()
    }
  }

  #begin(): void {
    this.#first = this.#connect()
  }

  /** Long texts go through the guards in parts. Only a service that masks sees them whole: its mask replaces a part of a whole text. Of arguments, it sees the strings. */
  #connect(): TextStage<StreamPiece> {
    const { guards } = this.#options
    let out: TextOutput<StreamPiece> = this
    for (let end = guards.length; end > 0; ) {
      let start = end - 1
      const isMask = masksByService(guards[start]!)
      while (!isMask && start > 0 && !masksByService(guards[start - 1]!)) start--
      const within = guards.slice(start, end)
      const build = (inner: TextOutput<StreamPiece>) => this.#stages(within, inner)
      const isWhole = isMask && !this.#isArguments
      out = isWhole ? build(out) : new PartedStage(out, build, start === 0 ? this : this.#options)
      end = start
    }
    return out
  }

  /** A text has passed. */
  text(piece: StreamPiece, text: string): void {
    piece.released = text
    this.#repeated?.pass(piece.original, text)
    this.#keepTail(text)
  }

  /** All of it has passed. */
  finish(): void {
    this.#isOverJson = this.isJson
    this.#isOver = true
    this.#first = undefined
    this.#services = []
    this.#arguments = []
    for (const piece of this.#repeats ?? []) piece.released = this.#outputFor(piece)
    this.#next?.()
    this.#next = undefined
  }

  later(work: Steps<void>): void {
    this.#rest = work
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Its text is JSON so far, so that no other text can begin within it. */
  get isJson(): boolean {
    if (this.#isOver) return this.#isOverJson
    if (this.#arguments.length === 0) return this.#kind.form === 'arguments'
    return this.#arguments.every(({ isPlain }) => !isPlain)
  }

  get key(): string {
    return this.#kind.key
  }

  /** Undefined: it is a text of one event. */
  get sequenced(): SequencedText | undefined {
    return this.#kind.text
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  /** The end of what has left; empty as long as a part of it is held. */
  get tail(): string {
    return this.#isOver ? this.#tail.slice(-TAIL_LENGTH) : ''
  }

  /** A repetition of it cannot be recognized. */
  get isForgotten(): boolean {
    return this.#repeated?.isForgotten === true
  }

  /** A verdict or a pause will release text. */
  get isAsking(): boolean {
    return this.#services.some(({ isAsking }) => isAsking)
  }

  /** The services cannot take more text now. */
  get isBusy(): boolean {
    return this.#services.some(({ isBusy }) => isBusy)
  }

  /** No further text comes until services have let some pass. */
  judgeNow(): void {
    for (const service of this.#services) service.judgeNow()
  }

  /** @returns the rest of the work for a long text */
  push(piece: StreamPiece): Steps<void> | undefined {
    this.#repeated?.receive(piece.original)
    if (this.#early === undefined) return this.#check(piece)
    this.#early.push(piece)
    return undefined
  }

  #check(piece: StreamPiece): Steps<void> | undefined {
    this.#first!.text(piece, piece.original)
    const rest = this.#rest
    this.#rest = undefined
    return rest
  }

  /** Whether a whole text is neither the first of the block nor all of it once more. */
  isOther(text: string): boolean {
    const repeated = this.#repeated
    return repeated !== undefined && (this.#isFinished || !repeated.isEmpty) && !repeated.isRepeatedBy(text)
  }

  /** All text of the block once more, which gets the same masks; or all of it at once. */
  repeat(piece: StreamPiece): Steps<void> | undefined {
    const rest = !this.#isFinished && this.#repeated?.isEmpty !== false ? this.push(piece) : undefined
    return rest === undefined ? this.#repeatFinished(piece) : this.#repeatAfter(rest, piece)
  }

  *#repeatAfter(rest: Steps<void>, piece: StreamPiece): Steps<void> {
    yield* rest
    const more = this.#repeatFinished(piece)
    if (more !== undefined) yield* more
  }

  #repeatFinished(piece: StreamPiece): Steps<void> | undefined {
    this.end()
    if (this.#repeated?.isRepeatedBy(piece.original) !== true) return this.#checkAlone(piece)
    if (this.#isOver) piece.released = this.#outputFor(piece)
    else {
      this.#repeats ??= []
      this.#repeats.push(piece)
    }
    return undefined
  }

  #outputFor({ original }: StreamPiece): string {
    return this.#repeated?.outputFor(original) ?? original
  }

  /** No text follows. */
  end(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#first?.finish()
  }

  /** A text that is not what came before. */
  *#checkAlone(piece: StreamPiece): Steps<void> {
    const kind = { ...this.#kind, text: undefined, begun: undefined }
    const block = new GuardedBlock(kind, { ...this.#options, repeats: undefined })
    const rest = block.push(piece)
    if (rest !== undefined) yield* rest
    block.end()
  }

  #keepTail(text: string): void {
    this.#tail += text
    if (this.#tail.length > 16 * TAIL_LENGTH) this.#tail = this.#tail.slice(-TAIL_LENGTH)
  }

  get #isArguments(): boolean {
    return this.#kind.form === 'arguments' || this.#kind.form === 'input'
  }

  #stages(guards: readonly Guard[], out: TextOutput<StreamPiece>): TextStage<StreamPiece> {
    const [guard] = guards
    if (guard === undefined) return out
    if (guard.kind === 'regex') return this.#regexStage(guard, this.#stages(guards.slice(1), out))
    const together = askedTogether(guards)
    return this.#serviceStage(together, this.#stages(guards.slice(together.length), out))
  }

  #regexStage(guard: RegexGuard, out: TextOutput<StreamPiece>): TextStage<StreamPiece> {
    if (this.#isArguments) {
      return this.#argumentsStage(guard, out, (checked, before) => {
        return new RegexChecks(checked, this.#matching(guard), before instanceof RegexChecks ? before : undefined)
      })
    }
    const { text } = this.#kind
    const stage = new RegexStage(out, { ...this.#matching(guard), neighbours: text }, text?.stageOf(guard))
    text?.stages.set(guard, stage as RegexStage<unknown>)
    return stage
  }

  #serviceStage(guards: readonly ServiceGuard[], out: TextOutput<StreamPiece>): TextStage<StreamPiece> {
    const [first] = guards as readonly [ServiceGuard]
    const { isFixed, text } = this.#kind
    if (this.#isArguments) {
      return this.#argumentsStage(first, out, (checked, before) => {
        const begun = before instanceof ServiceChecks ? before : undefined
        const checks = new ServiceChecks(checked, { ...this.#asking(guards), isFixed }, begun)
        this.#services = [...this.#services, checks.stage]
        return checks
      })
    }
    const before = text?.stages.get(first)
    const begun = before instanceof ServiceStage ? before : undefined
    const stage = new ServiceStage(out, { ...this.#asking(guards), canChange: () => !isFixed }, begun)
    text?.stages.set(first, stage as ServiceStage<unknown>)
    this.#services = [...this.#services, stage]
    return stage
  }

  /** @param guard the first one of the stage */
  #argumentsStage(
    guard: Guard,
    out: TextOutput<StreamPiece>,
    build: (
      checked: TextOutput<ArgumentPiece<StreamPiece>>,
      before: ArgumentChecks<unknown> | undefined,
    ) => ArgumentChecks<StreamPiece>,
  ): TextStage<StreamPiece> {
    const { text } = this.#kind
    const stageBefore = text?.stages.get(guard)
    const last = stageBefore instanceof ArgumentsStage ? stageBefore : undefined
    const stage = new ArgumentsStage(out, (checked) => build(checked, last?.checks), last)
    this.#arguments = [...this.#arguments, stage]
    text?.stages.set(guard, stage)
    return stage
  }

  #matching(guard: RegexGuard) {
    return { guard, isFixed: this.#kind.isFixed, stream: this.#options }
  }

  #asking(guards: readonly ServiceGuard[]) {
    const { refuse, exchange, signal } = this.#options
    const { text } = this.#kind
    const before = () => text?.tailBefore ?? ''
    const services = this.#services
    const progressed = () => {
      // What one service has let pass has waited for its pause already.
      for (const service of services) service.judgeNow()
      this.#options.progressed()
    }
    return { guards, before, refuse, exchange, signal, progressed }
  }
}

function masksByService(guard: Guard): boolean {
  return guard.kind !== 'regex' && guard.service.masks
}
