import { clock } from '#base/clock.ts'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { isHighSurrogate, isLowSurrogate } from '#base/pattern/text-cut.ts'
import { utf8Length } from '#base/utf8-length.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type AskedVerdict, askAboutWindow } from '../ask-service.ts'
import { askTogether } from '../ask-together.ts'
import { concludeVerdict } from '../conclude-verdict.ts'
import type { ServiceGuard } from '../guard.ts'
import { type Joining, spreadMask } from '../services/spread-mask.ts'
import type { RefuseStream, TextOutput, TextStage } from './text-stage.ts'

/** New text that is judged at once, and the end of the text before it that is shown again, in UTF-8 bytes (decision B45). */
const WINDOW_BYTES = 1024
const OVERLAP_BYTES = 256
/** The deltas of a text are the text: what the mask of one has covered of another is not there. */
const DELTAS: Joining = { separator: '', covered: '' }
/** Text that is followed by no other for this long is judged. */
const PAUSE_MS = 500
/** Text of a window waits at most this long, however slowly the provider goes on. */
const MAX_WAIT_MS = 2000

interface Entry<Tag> {
  readonly tag: Tag
  text: string
  readonly canChange: boolean
}

/** Text that the services judge in one question. */
interface Window<Tag> {
  readonly entries: Entry<Tag>[]
  bytes: number
}

export interface ServiceStageOptions<Tag> {
  /** One that may mask, or neighbours that only judge. */
  readonly guards: readonly ServiceGuard[]
  /** False: a mask of the text refuses the stream. */
  readonly canChange: (tag: Tag) => boolean
  /** The end of the text before, if it has left: this one may go on with it. */
  readonly before: () => string
  readonly refuse: RefuseStream
  readonly exchange: Exchange
  /** Aborted when the stream is over: no question is asked or waited for. */
  readonly signal: AbortSignal
  /** Text was released. */
  readonly progressed: () => void
}

/** Shows the text of a block to services, window by window and at the same time. Text is released after all of them have let it pass. */
export class ServiceStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: ServiceStageOptions<Tag>
  /** At most this many windows are judged at a time. A mask changes what the next window follows. */
  readonly #maxInFlight: number
  #open: Window<Tag> = { entries: [], bytes: 0 }
  /** In order. `asked`: the verdicts of the guards in order, up to the first that lets nothing pass; undefined: they are not known yet. */
  readonly #inFlight: {
    readonly window: Window<Tag>
    readonly shown: string
    asked: readonly AskedVerdict[] | undefined
    startMs: number
  }[] = []
  /** The first half of a character that a provider has cut in two, which goes into the next delta. At the end of a text, it is none and left out, unless the text goes on. */
  #half = ''
  /** The end of the text before the open window; undefined: no text has been judged. */
  #before: string | undefined
  #pause: { cancel(): void } | undefined
  /** When the last text came. */
  #lastMs = 0
  /** When the open window got its first text. */
  #openedMs = 0
  /** The open window waits only for a verdict on an earlier one. */
  #isDue = false
  #isFinished = false
  #isOver = false

  /** @param begun that of the beginning of the text, which seemed to be over: all of it has passed */
  constructor(out: TextOutput<Tag>, options: ServiceStageOptions<Tag>, begun?: ServiceStage<unknown>) {
    this.#out = out
    this.#options = options
    this.#maxInFlight = options.guards.some(({ service }) => service.masks) ? 1 : 2
    if (begun !== undefined) {
      this.#before = begun.#before
      this.#half = begun.#half
    }
    options.exchange.context.whenOver(() => this.#stop())
  }

  /** Text waits for a verdict or a pause, and not for further text. */
  get isAsking(): boolean {
    return this.#inFlight.length > 0 || this.#open.bytes > 0
  }

  /** Further text would only wait in memory. */
  get isBusy(): boolean {
    return this.#inFlight.length === this.#maxInFlight && this.#open.bytes >= WINDOW_BYTES
  }

  text(tag: Tag, delta: string): void {
    if (this.#isOver) return
    const joined = this.#half + delta
    const end = joined.length - (isHighSurrogate(joined, joined.length - 1) ? 1 : 0)
    const text = joined.slice(0, end)
    this.#half = joined.slice(end)
    if (text !== '') {
      this.#lastMs = clock.monotonic()
      if (this.#open.bytes === 0) this.#openedMs = this.#lastMs
    }
    this.#open.entries.push({ tag, text, canChange: this.#options.canChange(tag) })
    this.#open.bytes += utf8Length(text, WINDOW_BYTES)
    if (this.#open.bytes >= WINDOW_BYTES) this.#judge()
    else if (this.#open.bytes > 0) this.#awaitPause(PAUSE_MS)
    else if (this.#inFlight.length === 0) this.#releaseEmpty()
  }

  /** No further text comes until some has been released: what there is waits for no pause. */
  judgeNow(): void {
    if (!this.#isOver && this.#inFlight.length === 0) this.#judge()
  }

  /** One timer serves all texts of a window: most come long before it ends. */
  #awaitPause(forMs: number): void {
    this.#pause ??= clock.after(forMs, () => {
      this.#pause = undefined
      const leftMs = Math.min(this.#lastMs + PAUSE_MS, this.#openedMs + MAX_WAIT_MS) - clock.monotonic()
      if (leftMs > 0) this.#awaitPause(leftMs)
      else this.#judge()
    })
  }

  #endPause(): void {
    this.#pause?.cancel()
    this.#pause = undefined
  }

  finish(): void {
    if (this.#isOver) return
    this.#isFinished = true
    this.#judge()
    this.#proceed()
  }

  /** Nothing before it waits, and there is nothing to judge. */
  #releaseEmpty(): void {
    for (const { tag, text } of this.#open.entries.splice(0)) this.#out.text(tag, text)
  }

  /** As soon as the services have room. */
  #judge(): void {
    this.#endPause()
    this.#isDue = this.#inFlight.length === this.#maxInFlight
    if (this.#isDue || this.#open.bytes === 0) return
    const { guards, exchange, signal } = this.#options
    if (signal.aborted) return
    const window = this.#open
    this.#open = { entries: [], bytes: 0 }
    const text = textOf(window)
    const shown = this.#before ?? endOf(this.#options.before())
    const content = shown + text
    this.#before = endOf(content)
    const question = {
      phase: 'response' as const,
      messages: [{ role: 'assistant', content }],
      head: exchange.response!,
    }
    const startMs = exchange.context.monotonic()
    const entry = { window, shown, asked: undefined as readonly AskedVerdict[] | undefined, startMs }
    this.#inFlight.push(entry)
    const { guardLoad } = exchange.context
    guardLoad.beginWindow()
    const ask = (guard: ServiceGuard, needless: AbortSignal | undefined) =>
      askAboutWindow(guard, question, exchange, needless === undefined ? signal : AbortSignal.any([signal, needless]))
    void askTogether(guards, ask).then((asked) => {
      guardLoad.endWindow()
      entry.asked = asked
      this.#proceed()
      this.#options.progressed()
    })
  }

  /** Releases windows in order, and judges what has gathered meanwhile. */
  #proceed(): void {
    while (!this.#isOver) {
      const first = this.#inFlight[0]
      if (first === undefined) break
      if (first.asked === undefined) return
      this.#inFlight.shift()
      this.#conclude(first.window, first.shown, first.asked, first.startMs)
      if (this.#isDue) this.#judge()
    }
    if (this.#isOver) return
    if (this.#open.bytes === 0) this.#releaseEmpty()
    if (!this.#isFinished) return
    this.#isOver = true
    this.#out.finish()
  }

  #conclude(window: Window<Tag>, shown: string, asked: readonly AskedVerdict[], startMs: number): void {
    const { guards, exchange, refuse } = this.#options
    const { length } = textOf(window)
    for (const [index, answer] of asked.entries()) {
      const { verdict } = answer
      const isMasked = verdict.kind === 'mask' && maskWindow(window, shown, verdict.contents[0]!)
      if (isMasked) this.#before = endOf(shown + textOf(window))
      const refusal = concludeVerdict(guards[index]!, answer, { length, startMs, isMasked }, exchange)
      if (refusal === undefined) continue
      this.#stop()
      return refuse(refusal)
    }
    this.#release(window)
  }

  #release(window: Window<Tag>): void {
    for (const { tag, text } of window.entries) this.#out.text(tag, text)
  }

  #stop(): void {
    this.#isOver = true
    this.#endPause()
  }
}

function textOf({ entries }: Window<unknown>): string {
  return entries.map(({ text }) => text).join('')
}

/**
 * Writes a masked content into the window. What was shown before it has left already.
 * @returns false if the mask reaches into that, or into a text that cannot change
 */
function maskWindow({ entries }: Window<unknown>, shown: string, masked: string): boolean {
  return masked.startsWith(shown) && runAtOnce(spreadMask(entries, DELTAS, masked.slice(shown.length), new Pace()))
}

/** The last characters, without half of one. */
function endOf(text: string): string {
  let start = Math.max(0, text.length - OVERLAP_BYTES)
  while (utf8Length(text.slice(start)) > OVERLAP_BYTES) start++
  return text.slice(isLowSurrogate(text, start) ? start + 1 : start)
}
