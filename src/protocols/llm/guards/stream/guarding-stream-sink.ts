import { runAtOnce, runInSlices, type Steps } from '#base/in-slices.ts'
import { type Refusal, refusalStatus, refusalText } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import { HoldingSink } from '#net/body/holding-sink.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import { FORMATS } from '../../dialects/index.ts'
import { encode } from '../../json/splice.ts'
import { SseBlock } from '../../sse/sse-block.ts'
import { SseSplitter } from '../../sse/sse-splitter.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { forgetBytes } from '../../translation/translate-head.ts'
import { noteCheck } from '../guard-log.ts'
import { failGuard, GUARD_CODE } from '../guard-refusals.ts'
import { cleanEvent, isEndMark } from './clean-event.ts'
import { EventOutbox, LONG_EVENT_BYTES } from './event-outbox.ts'
import { EventReader, type StringPlace } from './event-reader.ts'
import type { BlockOptions, GuardedBlock } from './guarded-block.ts'
import { GuardedBlocks } from './guarded-blocks.ts'
import type { GuardingOptions } from './guarded-stream-options.ts'
import { type EventPiece, type GuardedEvent, wholeEvent } from './held-events.ts'
import { KeptTextMemory } from './kept-text.ts'
import { PacedInput } from './paced-input.ts'
import { RuleRecord } from './rule-record.ts'

/** The provider's response has ended, with these trailers or with an abort. */
interface Ending {
  readonly trailers: Head | undefined
  readonly abort: Abort | undefined
}

/** If more bytes wait, the gateway stops reading from the provider. */
const BACKED_BYTES = 16 * 1024

/** All blocks. */
const ALL: readonly string[] = ['*']

/** The reason of aborted questions. Without one, the runtime would create an error with a stack trace. */
const STREAM_OVER = 'the stream is over'

const NO_MEMORY = 'there is no memory for the stream'

const NO_PIECES: readonly EventPiece[] = []

/** Keeps the connection alive. */
const COMMENT = encode(':\n\n')

export class GuardingStreamSink extends HoldingSink {
  readonly #options: GuardingOptions
  readonly #input: PacedInput
  readonly #splitter: SseSplitter
  readonly #block = new SseBlock()
  readonly #reader: EventReader
  readonly #blocks: GuardedBlocks
  readonly #outbox: EventOutbox
  /** Aborts the questions to services. */
  readonly #questions = new AbortController()
  readonly #rules = new RuleRecord()
  readonly #startMs: number
  /** The texts of the event that is being read. */
  #pieces: EventPiece[] | undefined
  #length = 0
  #events = 0
  /** Ends the stream when all text that has passed has been sent. */
  #refusal: Refusal | undefined
  #isOver = false
  /** All has been received. */
  #arrived: Ending | undefined
  /** All has been read. */
  #ending: Ending | undefined
  #isWorking = false
  /** Input has arrived, or text was released, during the work. */
  #isCalledAgain = false
  /** Long events, and those after them. */
  readonly #unread: HeldBytes[] = []
  /** Work for long texts that services have let pass. */
  readonly #later: Steps<void>[] = []

  constructor(sink: BodySink, options: GuardingOptions) {
    const { guards, exchange, claim, maxEventBytes, format } = options
    super(sink)
    this.#options = options
    this.#input = new PacedInput(claim)
    this.#splitter = new SseSplitter(this, { claim, maxBlockBytes: maxEventBytes })
    this.#reader = new EventReader(format, {
      text: (about, original, place) => this.#addPiece(about, original, place),
      replace: ({ start, end }, json) => {
        this.#keepPiece({ original: '', released: json, start, end, block: undefined, isJson: true })
      },
      close: (keys) => this.#blocks.close(keys),
    })
    this.#startMs = exchange.context.monotonic()
    this.#outbox = new EventOutbox(sink, options)
    const blockOptions: BlockOptions = {
      guards,
      exchange,
      signal: this.#questions.signal,
      refuse: (refusal) => this.#refuse(refusal),
      progressed: () => {
        this.#proceed()
        this.#resume()
      },
      later: (work) => this.#later.push(work),
      noted: (...found) => this.#rules.note(...found),
      fail: (detail) => this.#fail(detail),
    }
    // An event cannot repeat more text than fits into one event.
    const memory = FORMATS[format].client.keepsStream ? new KeptTextMemory(claim, maxEventBytes) : undefined
    this.#blocks = new GuardedBlocks(blockOptions, memory)
    exchange.context.whenOver(() => this.#stop())
  }

  override get backed(): boolean {
    return this.sink.backed || this.#hasNoRoom
  }

  /** Earlier input has not been read, or waits for the guards. */
  get #hasNoRoom(): boolean {
    return this.#isWorking || !this.#input.isEmpty || this.#isHolding
  }

  /** Nothing more is read. */
  get #isEnding(): boolean {
    return this.#isOver || this.#refusal !== undefined
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#isEnding) return
    if (end - start <= LONG_EVENT_BYTES && !this.#hasNoRoom) return this.#readShort(buffer, start, end)
    if (!this.#input.push(buffer, start, end)) return this.#fail(NO_MEMORY)
    this.#proceed()
    if (!this.#isEnding && !this.#input.keep()) this.#fail(NO_MEMORY)
  }

  /** Few bytes need neither slices nor memory of their own. */
  #readShort(buffer: Buffer, start: number, end: number): void {
    this.#isWorking = true
    this.#splitter.push(buffer, start, end)
    this.#isWorking = false
    const isDone = !this.#isCalledAgain && this.#unread.length === 0 && this.#later.length === 0
    this.#isCalledAgain = false
    return isDone ? this.#judgeHeld() : this.#proceed()
  }

  override end(trailers?: Head): void {
    const late = trailers?.clone()
    if (late !== undefined) forgetBytes(late)
    this.#arrived = { trailers: late, abort: undefined }
    this.#proceed()
  }

  override abort(why: Abort): void {
    if (why !== 'cancelled') {
      this.#arrived = { trailers: undefined, abort: why }
      return this.#proceed()
    }
    this.#stop()
    this.sink.abort(why)
  }

  /** The client has room. The provider continues only if the guards have room, too. */
  protected drained(): void {
    if (!this.#hasNoRoom) this.source?.resume()
  }

  #resume(): void {
    if (!this.#isOver && !this.backed) this.source?.resume()
  }

  /** Processes held events and new input, as long as there is room. Long work is done in slices. */
  #proceed(): void {
    if (this.#isWorking) {
      this.#isCalledAgain = true
      return
    }
    if (this.#isOver) return
    this.#isWorking = true
    const worked = runInSlices(this.#work())
    if (!(worked instanceof Promise)) return this.#rest()
    void worked.then(() => {
      this.#rest()
      this.#resume()
    })
  }

  #rest(): void {
    this.#isWorking = false
    if (!this.#isCalledAgain) return this.#judgeHeld()
    this.#isCalledAgain = false
    this.#proceed()
  }

  *#work(): Steps<void> {
    for (let work = this.#later.shift(); work !== undefined; work = this.#later.shift()) yield* work
    yield* this.#drain()
    while (!this.#isOver) {
      if (this.#refusal !== undefined) {
        yield* this.#drain()
        return this.#endRefused(this.#refusal)
      }
      const event = this.#unread.shift()
      if (event !== undefined) {
        const { bytes } = event
        yield* this.#readBlock(bytes, 0, bytes.length)
        event.drop()
      } else if (!this.#input.isEmpty) {
        if (this.#isHolding) return
        this.#input.readSlice((buffer, start, end) => this.#splitter.push(buffer, start, end))
        yield
      } else if (this.#arrived !== undefined) {
        const { rest } = this.#splitter
        if (rest.length > 0 && this.#arrived.abort === undefined) yield* this.#readBlock(rest, 0, rest.length)
        return yield* this.#finish(this.#arrived)
      } else return
    }
  }

  block(buffer: Buffer, start: number, end: number): void {
    if (this.#isEnding) return
    if (this.#unread.length === 0 && end - start <= LONG_EVENT_BYTES) {
      return runAtOnce(this.#readBlock(buffer, start, end))
    }
    const { claim, maxEventBytes } = this.#options
    const event = new HeldBytes(claim, maxEventBytes)
    if (!event.appendWithin(buffer, start, end)) return this.#fail(NO_MEMORY)
    this.#unread.push(event)
  }

  *#readBlock(buffer: Buffer, start: number, end: number): Steps<void> {
    if (this.#isEnding) return
    const read = this.#block.read(buffer, start, end)
    const index = this.#events++
    // Most events have one data line, which is read in place.
    const { isSplit } = read
    const data = isSplit ? read.data : buffer
    const from = isSplit ? 0 : read.dataStart
    const to = isSplit ? data.length : read.dataEnd
    const dataLength = to - from
    if (from < 0 || dataLength === 0) return yield* this.#takeEmpty(buffer, start, end)
    const isEnd = isEndMark(data, from, to)
    this.#pieces = undefined
    const reading = isEnd || this.#reader.read(data, from, to)
    if (!(typeof reading === 'boolean' ? reading : yield* reading)) {
      return this.#fail(`event ${index} of the stream is not JSON`)
    }
    if (isEnd) yield* this.#blocks.close(ALL)
    // Events that this one has released leave their room to it.
    if (this.#outbox.drainShort()) yield* this.#drain()
    if (this.#isEnding) return
    const pieces = this.#pieces ?? NO_PIECES
    const line = cleanEvent(read, isEnd ? '' : this.#reader.type)
    const event =
      line === undefined
        ? { buffer, start, end, dataStart: from - start, dataLength, pieces }
        : wholeEvent(line, line.length - 2 - dataLength, dataLength, pieces)
    yield* this.#take(event)
  }

  /** A block without data. Its lines are replaced, because they may contain text, although clients do not read them. */
  *#takeEmpty(buffer: Buffer, start: number, end: number): Steps<void> {
    const { hasOtherLines, dataStart, nameEnd } = this.#block
    const isBlank = !hasOtherLines && dataStart < 0 && nameEnd === 0
    const event = isBlank
      ? { buffer, start, end, dataStart: -1, dataLength: 0, pieces: NO_PIECES }
      : wholeEvent(COMMENT, -1, 0, NO_PIECES)
    yield* this.#take(event)
  }

  *#take(event: GuardedEvent): Steps<void> {
    if (!this.#outbox.push(event)) return this.#fail('too much text is held back')
    if (this.#outbox.isEmpty) return
    if (this.#outbox.drainShort()) yield* this.#drain()
  }

  /** An event over the limit cannot be checked (decision B47). */
  part(): void {
    this.#fail('an event of the stream is too large')
  }

  /** Held text may be released without further text of the provider. */
  get isAsking(): boolean {
    return this.#outbox.isAsking
  }

  get #isHolding(): boolean {
    return this.#isFull || (this.#outbox.bytes > 0 && this.#blocks.isBusy)
  }

  /** The provider waits until services have let text pass. */
  get #isFull(): boolean {
    return this.#outbox.bytes > BACKED_BYTES && this.isAsking
  }

  /** While the provider must wait, services judge without waiting for a pause. */
  #judgeHeld(): void {
    if (!this.#isEnding && this.#isFull) this.#blocks.judgeNow()
  }

  /** Shows a text to the guards. */
  #addPiece(about: EventText, original: string, { start, end }: StringPlace): Steps<void> | undefined {
    if (this.#isEnding) return undefined
    // An empty delta does not begin a block.
    const block =
      original === '' && about.kind === 'delta' ? this.#blocks.open(about) : this.#blocks.of(about, this.#events)
    if (block === undefined) return original === '' ? undefined : void this.#fail('too many texts are open')
    const piece: EventPiece = { original, released: undefined, start, end, block }
    this.#keepPiece(piece)
    this.#length += original.length
    block.lastEvent = this.#events
    if (about.kind === 'whole' && block.hasText) {
      this.#blocks.end(block)
      return void block.repeat(piece)
    }
    const rest = block.push(piece)
    if (about.kind === 'delta' && !about.ends) return rest
    if (rest !== undefined) return this.#endAfter(rest, block)
    this.#blocks.end(block)
    return undefined
  }

  #keepPiece(piece: EventPiece): void {
    if (this.#pieces === undefined) this.#pieces = [piece]
    else this.#pieces.push(piece)
  }

  *#endAfter(rest: Steps<void>, block: GuardedBlock): Steps<void> {
    yield* rest
    this.#blocks.end(block)
  }

  *#drain(): Steps<void> {
    yield* this.#outbox.drain()
    if (this.#outbox.isEmpty && this.#ending !== undefined && !this.#isEnding) this.#complete()
  }

  *#finish(ending: Ending): Steps<void> {
    if (this.#isEnding || this.#ending !== undefined) return
    yield* this.#blocks.close(ALL)
    this.#ending = ending
    yield* this.#drain()
  }

  #complete(): void {
    const { trailers, abort } = this.#ending!
    this.#noteRules()
    this.#stop()
    if (abort === undefined) this.sink.end(trailers)
    else this.sink.abort(abort)
  }

  /** No guard can check the rest of the stream, beginning with the first one. */
  #fail(detail: string): void {
    const { guards, exchange } = this.#options
    const guard = guards[0]!
    if (guard.kind === 'regex') this.#rules.noteFailure(guard, detail)
    else noteCheck(exchange, guard, exchange.context.monotonic(), { verdict: 'Fail', length: 0, detail })
    this.#refuse(failGuard(guard, detail))
  }

  /** Text that has passed is sent first: a verdict may have released it in this turn. */
  #refuse(refusal: Refusal): void {
    if (this.#isEnding) return
    this.#refusal = refusal
    this.#dropUnchecked()
    this.#proceed()
  }

  /** Ends the stream without what is held, and without an end mark (decision B47). */
  #endRefused(refusal: Refusal): void {
    if (this.#isOver) return
    const { exchange, stream, refused, over } = this.#options
    this.#noteRules()
    this.#stop()
    exchange.reason = 'Guardrail'
    exchange.refusal = refusal.code
    exchange.refusalDetail = refusal.detail
    exchange.decidedBy = refusal.decidedBy
    const message = refusal.body ?? refusalText(refusal)
    const event = encode(stream.formatRefusal(refusalStatus(refusal), GUARD_CODE, message, this.#events))
    this.sink.bytes(asBuffer(event), 0, event.length)
    refused(refusal)
    this.sink.end()
    over()
  }

  #noteRules(): void {
    const { guards, exchange } = this.#options
    for (const guard of guards) {
      if (guard.kind === 'regex') this.#rules.write(guard, exchange, this.#startMs, this.#length)
    }
  }

  #stop(): void {
    this.#isOver = true
    this.#dropUnchecked()
    this.#outbox.drop()
    this.#blocks.drop()
  }

  #dropUnchecked(): void {
    this.#questions.abort(STREAM_OVER)
    this.#input.drop()
    for (const event of this.#unread.splice(0)) event.drop()
    this.#later.length = 0
  }
}
