import { parseJson } from '#base/parse-json.ts'
import type { Refusal } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import { HoldingSink } from '#net/body/holding-sink.ts'
import type { Head } from '#net/http/head.ts'
import type { Abort, BodySink } from '#net/stream.ts'
import { decodeText } from '../../json/native.ts'
import { applySplices, copyOf, encode, type Splice } from '../../json/splice.ts'
import { SseBlock } from '../../sse/sse-block.ts'
import { SseSplitter } from '../../sse/sse-splitter.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { ALONE } from '../../texts/read-texts.ts'
import type { RegexGuard } from '../guard.ts'
import { noteCheck } from '../guard-log.ts'
import { failGuard } from '../guard-refusals.ts'
import { cleanEvent, isEndMark } from './clean-event.ts'
import { EventReader, type StringPlace } from './event-reader.ts'
import { formatGuardEvent } from './guard-event.ts'
import { type BlockOptions, GuardedBlock, type StreamPiece } from './guarded-block.ts'
import type { GuardedStreamOptions } from './guarded-stream-options.ts'
import { HeldText } from './held-text.ts'
import { PacedInput } from './paced-input.ts'

export interface GuardingOptions extends GuardedStreamOptions {
  /** The first content leaves. */
  readonly begin: () => void
  /** The client gets this instead, if nothing has been sent to it. */
  readonly refused: (refusal: Refusal) => void
  /** The rest of the provider's response is not needed. */
  readonly over: () => void
}

/** A text of an event, and where it is in the data of the event. */
interface EventPiece extends StreamPiece {
  readonly place: StringPlace
  readonly key: string
  readonly block: GuardedBlock
}

/** An event that waits for the guards, or for events before it. */
interface HeldEvent {
  readonly bytes: Uint8Array
  /** Of its JSON within `bytes`; -1: it has none. */
  readonly dataStart: number
  readonly dataEnd: number
  readonly pieces: readonly EventPiece[]
}

/** The provider's response has ended, with these trailers or with an abort. */
interface Ending {
  readonly trailers: Head | undefined
  readonly abort: Abort | undefined
}

/** Above this, the provider waits. */
const BACKED_BYTES = 16 * 1024

/** Keeps the connection alive. */
const COMMENT = encode(':\n\n')

/** A text that this many events have not gone on with has ended. */
const FORGOTTEN_AFTER = 16

/** Members of choices and kinds of blocks whose last text is remembered. */
const MAX_FAMILIES = 64

const NO_PIECES: readonly EventPiece[] = []

export class GuardingStreamSink extends HoldingSink {
  readonly #options: GuardingOptions
  readonly #input: PacedInput
  readonly #splitter: SseSplitter
  readonly #block = new SseBlock()
  readonly #reader: EventReader
  readonly #blocks = new Map<string, GuardedBlock>()
  /** The ends of texts that other blocks may go on with. */
  readonly #before = new Map<string, string>()
  readonly #blockOptions: BlockOptions
  readonly #queue: HeldEvent[] = []
  readonly #held: HeldText
  readonly #verdicts = new Map<RegexGuard, 'Mask' | 'Reject' | 'Fail'>()
  readonly #startMs: number
  /** Of the event that is being read. */
  #pieces: EventPiece[] | undefined
  #length = 0
  #events = 0
  #hasBegun = false
  #isOver = false
  #ending: Ending | undefined

  constructor(sink: BodySink, options: GuardingOptions) {
    const { guards, exchange, claim, maxEventBytes, format } = options
    super(sink)
    this.#options = options
    this.#input = new PacedInput({
      claim,
      isFull: () => this.#isHolding,
      read: (buffer, start, end) => {
        if (!this.#isOver) this.#splitter.push(buffer, start, end)
      },
    })
    this.#splitter = new SseSplitter(this, { claim, maxBlockBytes: maxEventBytes })
    this.#reader = new EventReader(format, {
      text: (about, original, place) => this.#addPiece(about, original, place),
      close: (key) => this.#close(key),
    })
    this.#startMs = exchange.context.monotonic()
    this.#held = new HeldText(exchange.context.guardLoad)
    this.#blockOptions = {
      guards,
      exchange,
      refuse: (refusal) => this.#refuse(refusal),
      progressed: () => this.#progress(),
      noted: (guard, verdict) => this.#verdicts.set(guard, verdict),
      isRepeated: format === 'Responses',
    }
    exchange.context.whenOver(() => this.#stop())
  }

  override get backed(): boolean {
    return this.sink.backed || this.#isHolding || this.#input.isWaiting
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    if (!this.#isOver && !this.#input.push(buffer, start, end)) this.#fail('there is no memory for the stream')
  }

  override end(trailers?: Head): void {
    const late = trailers?.clone()
    this.#input.end(() => {
      const { rest } = this.#splitter
      if (rest.length > 0 && !this.#isOver) this.block(rest, 0, rest.length)
      this.#finish({ trailers: late, abort: undefined })
    })
  }

  override abort(why: Abort): void {
    if (why !== 'cancelled') return this.#input.end(() => this.#finish({ trailers: undefined, abort: why }))
    this.#stop()
    this.sink.abort(why)
  }

  /** The provider goes on only if the guards have room as well. */
  protected drained(): void {
    if (!this.#isHolding && !this.#input.isWaiting) this.source?.resume()
  }

  block(buffer: Buffer, start: number, end: number): void {
    if (this.#isOver) return
    const read = this.#block.read(buffer, start, end)
    const index = this.#events++
    const { data } = read
    if (data.length === 0) return this.#takeEmpty(buffer, start, end)
    const isEnd = isEndMark(data)
    const pieces = isEnd ? NO_PIECES : this.#readPieces(data)
    if (pieces === undefined) return this.#fail(`event ${index} of the stream is not JSON`)
    if (isEnd) this.#close('*')
    if (this.#isOver) return
    const line = cleanEvent(read, isEnd ? '' : this.#reader.type)
    const isPassed = pieces.every(({ released, original }) => released === original)
    if (this.#queue.length === 0 && isPassed) {
      if (line === undefined) return this.#send(buffer, start, end, pieces, data)
      return this.#send(asBuffer(line), 0, line.length, pieces, data)
    }
    // The buffer is only lent.
    const bytes = line ?? copyOf(buffer.subarray(start, end))
    const dataStart = line === undefined ? read.dataStart - start : line.length - 2 - data.length
    this.#hold({ bytes, dataStart, dataEnd: dataStart + data.length, pieces })
  }

  /** A block that is no event. Its lines may contain text, although clients do not read them. */
  #takeEmpty(buffer: Buffer, start: number, end: number): void {
    const { hasOtherLines, dataStart, nameEnd } = this.#block
    const isBlank = !hasOtherLines && dataStart < 0 && nameEnd === 0
    const bytes = isBlank ? copyOf(buffer.subarray(start, end)) : COMMENT
    if (this.#queue.length === 0) return this.#send(asBuffer(bytes), 0, bytes.length, NO_PIECES, undefined)
    this.#hold({ bytes, dataStart: -1, dataEnd: -1, pieces: NO_PIECES })
  }

  #hold(event: HeldEvent): void {
    if (!this.#held.take(event.bytes.length)) return this.#fail('too much text is held back')
    this.#queue.push(event)
    this.#drain()
    this.#endForgotten()
  }

  /** Texts end without a mark when the provider goes on with another one, such as the arguments of a call after an answer. */
  #endForgotten(): void {
    for (;;) {
      const piece = this.#queue[0]?.pieces.find(({ released }) => released === undefined)
      if (piece === undefined || piece.block.isFinished || piece.block.isArguments) return
      if (this.#events - piece.block.lastEvent < FORGOTTEN_AFTER) return
      this.#end(piece.key, piece.block)
      this.#drain()
    }
  }

  /** An event over the limit cannot be checked (decision B47). */
  part(): void {
    this.#fail('an event of the stream is too large')
  }

  /** What is held may leave without further text of the provider. */
  get #isAsking(): boolean {
    return this.#queue[0]?.pieces.some(({ block }) => block.isAsking) === true
  }

  get #isHolding(): boolean {
    if (this.#held.bytes === 0) return false
    if (this.#held.bytes > BACKED_BYTES && this.#isAsking) return true
    for (const { isBusy } of this.#blocks.values()) if (isBusy) return true
    return false
  }

  /** Shows the texts of an event to the guards. @returns undefined if it cannot be read */
  #readPieces(data: Uint8Array): readonly EventPiece[] | undefined {
    this.#pieces = undefined
    return this.#reader.read(data) ? (this.#pieces ?? NO_PIECES) : undefined
  }

  #addPiece(about: EventText, original: string, place: StringPlace): void {
    const block = this.#blockOf(about)
    const piece: EventPiece = { original, released: undefined, place, key: about.block, block }
    if (this.#pieces === undefined) this.#pieces = [piece]
    else this.#pieces.push(piece)
    this.#length += original.length
    block.lastEvent = this.#events
    if (about.kind === 'delta') block.push(piece)
    else block.repeat(piece)
  }

  #blockOf({ block: key, place, kind }: EventText): GuardedBlock {
    let block = this.#blocks.get(key)
    if (block === undefined || (kind === 'delta' && block.isFinished)) {
      const about = { isArguments: place.form === 'arguments', isFixed: !place.canChange }
      block = new GuardedBlock({ ...about, before: this.#before.get(familyOf(key)) ?? '' }, this.#blockOptions)
      this.#blocks.set(key, block)
    }
    return block
  }

  #close(key: string): void {
    if (!key.endsWith('*')) return this.#end(key, this.#blocks.get(key))
    const prefix = key.slice(0, -1)
    for (const [name, block] of this.#blocks) if (name.startsWith(prefix)) this.#end(name, block)
  }

  #end(name: string, block: GuardedBlock | undefined): void {
    if (block === undefined) return
    block.finish()
    const isAlone = name.startsWith(ALONE)
    if (!isAlone && block.tail !== '') this.#keepEnd(familyOf(name), block.tail)
    // Only the responses API repeats texts of blocks that have ended.
    if (isAlone || !this.#blockOptions.isRepeated) this.#blocks.delete(name)
  }

  #keepEnd(family: string, tail: string): void {
    this.#before.delete(family)
    this.#before.set(family, tail)
    if (this.#before.size > MAX_FAMILIES) this.#before.delete(this.#before.keys().next().value!)
  }

  /** A service has let text pass. */
  #progress(): void {
    this.#drain()
    this.#input.proceed()
    if (!this.#isOver && !this.backed) this.source?.resume()
  }

  #drain(): void {
    while (!this.#isOver) {
      const event = this.#queue[0]
      if (event === undefined || event.pieces.some(({ released }) => released === undefined)) break
      this.#queue.shift()
      this.#held.give(event.bytes.length)
      this.#sendHeld(event)
    }
    if (this.#queue.length === 0 && this.#ending !== undefined) this.#complete()
  }

  #sendHeld({ bytes, dataStart, dataEnd, pieces }: HeldEvent): void {
    const splices: Splice[] = []
    for (const { released, original, place } of pieces) {
      if (released === original) continue
      splices.push({
        start: dataStart + place.start,
        end: dataStart + place.end,
        text: encode(JSON.stringify(released)),
      })
    }
    const out = applySplices(bytes, splices)
    const data = out.subarray(dataStart, dataEnd + out.length - bytes.length)
    this.#send(asBuffer(out), 0, out.length, pieces, dataStart < 0 ? undefined : data)
  }

  #send(buffer: Buffer, start: number, end: number, pieces: readonly EventPiece[], data: Uint8Array | undefined): void {
    this.#keep(data)
    this.sink.bytes(buffer, start, end)
    if (this.#hasBegun || pieces.every(({ original }) => original === '')) return
    this.#hasBegun = true
    this.#options.begin()
  }

  #keep(data: Uint8Array | undefined): void {
    const { kept, stream } = this.#options
    if (kept === undefined || kept.isFull || data === undefined || data.length === 0 || isEndMark(data)) return
    stream.keep(parseJson(decodeText(data, 0, data.length)), kept)
  }

  #finish(ending: Ending): void {
    if (this.#isOver || this.#ending !== undefined) return
    this.#ending = ending
    this.#close('*')
    this.#drain()
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
    if (guard.kind === 'regex') this.#verdicts.set(guard, 'Fail')
    else noteCheck(exchange, guard, exchange.context.monotonic(), { verdict: 'Fail', length: 0, detail })
    this.#refuse(failGuard(guard, detail))
  }

  /** Ends the stream without what is held, and without an end mark (decision B47). */
  #refuse(refusal: Refusal): void {
    if (this.#isOver) return
    const { exchange, format, refused, over } = this.#options
    this.#noteRules()
    this.#stop()
    exchange.reason = 'Guardrail'
    exchange.refusalDetail = refusal.detail
    const event = encode(formatGuardEvent(format, refusal, this.#events))
    this.sink.bytes(asBuffer(event), 0, event.length)
    refused(refusal)
    this.sink.end()
    over()
  }

  /** Patterns check the whole stream, so that they have one outcome. */
  #noteRules(): void {
    const { guards, exchange } = this.#options
    for (const guard of guards) {
      if (guard.kind !== 'regex') continue
      const verdict = this.#verdicts.get(guard) ?? 'Allow'
      noteCheck(exchange, guard, this.#startMs, { verdict, length: this.#length })
    }
  }

  #stop(): void {
    this.#isOver = true
    this.#input.drop()
    this.#queue.length = 0
    this.#held.drop()
  }
}

/**
 * Blocks whose texts a client may join: blocks of text follow each other in a message, and some providers go on with a block that has ended.
 * Titles and addresses do not go on, and the choices of chat completions are different answers.
 */
function familyOf(key: string): string {
  return key.endsWith('.text') && !key.startsWith('choices') ? key.replaceAll(/\d+/g, '') : key
}
