import { clock } from '#base/clock.ts'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { isHighSurrogate, isLowSurrogate } from '#base/pattern/text-cut.ts'
import { utf8Length } from '#base/utf8-length.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type AskedVerdict, askAboutWindow, askTogether } from '../ask-service.ts'
import { concludeVerdict } from '../conclude-verdict.ts'
import type { ServiceGuard } from '../guard.ts'
import { type Joining, spreadMask } from '../services/spread-mask.ts'
import type { RefuseStream, TextOutput, TextStage } from './text-stage.ts'

/** Size of a window of new text, and of the end of the previous text that is shown again with it, in UTF-8 bytes. */
const WINDOW_BYTES = 1024
const OVERLAP_BYTES = 256
/** Deltas are joined without a separator. A delta that a mask covers completely becomes empty. */
const DELTAS: Joining = { separator: '', covered: '' }
/** A window is judged if no text arrives for this long. */
const PAUSE_MS = 500
/** A window is judged after this time at the latest, however slow the provider is. */
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

export interface ServiceStageOptions {
  /** One that may mask, or neighbours that only judge. */
  readonly guards: readonly ServiceGuard[]
  /** The text cannot be masked: a mask ends the stream. */
  readonly isFixed: boolean
  readonly refuse: RefuseStream
  readonly exchange: Exchange
  /** Aborted when the stream is over: no question is asked or waited for. */
  readonly signal: AbortSignal
  /** Text was released. */
  readonly progressed: () => void
}

/** Asks services about the text of a block, window by window, all at the same time. Text is released when all of them have let it pass. */
export class ServiceStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: ServiceStageOptions
  /** How many windows are judged at a time: one if a service may mask, because a mask changes the text that the next window repeats. */
  readonly #maxInFlight: number
  #open: Window<Tag> = { entries: [], bytes: 0 }
  /** In order. `asked`: the verdicts of the guards in order, up to the first that lets nothing pass; undefined: they are not known yet. */
  readonly #inFlight: {
    readonly window: Window<Tag>
    readonly shown: string
    asked: readonly AskedVerdict[] | undefined
    startMs: number
  }[] = []
  /** The high surrogate of a split character. It is moved into the next delta, or dropped at the end of the text. */
  #half = ''
  /** The end of the text before the open window. */
  #before = ''
  #pause: { cancel(): void } | undefined
  /** When the last text came. */
  #lastMs = 0
  /** When the open window got its first text. */
  #openedMs = 0
  /** The open window waits only for a verdict on an earlier one. */
  #isDue = false
  #isFinished = false
  #isOver = false

  constructor(out: TextOutput<Tag>, options: ServiceStageOptions) {
    this.#out = out
    this.#options = options
    this.#maxInFlight = options.guards.some(({ service }) => service.masks) ? 1 : 2
    options.exchange.context.whenOver(() => this.#stop())
  }

  /** A verdict or a pause will release text, even if no further text arrives. */
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
    this.#open.entries.push({ tag, text, canChange: !this.#options.isFixed })
    this.#open.bytes += utf8Length(text, WINDOW_BYTES)
    if (this.#open.bytes >= WINDOW_BYTES) this.#judge()
    else if (this.#open.bytes > 0) this.#awaitPause(PAUSE_MS)
    else if (this.#inFlight.length === 0) this.#releaseEmpty()
  }

  /** Judges the open window without a pause, because no text arrives until some has been released. */
  judgeNow(): void {
    if (!this.#isOver && this.#inFlight.length === 0) this.#judge()
  }

  /** One timer serves all texts of a window. It is set again only when it fires, if text has arrived meanwhile. */
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

  /** Releases empty deltas: no earlier text waits, and there is nothing to judge. */
  #releaseEmpty(): void {
    for (const { tag, text } of this.#open.entries.splice(0)) this.#out.text(tag, text)
  }

  /** Judges the open window, as soon as the services have room. */
  #judge(): void {
    this.#endPause()
    this.#isDue = this.#inFlight.length === this.#maxInFlight
    if (this.#isDue || this.#open.bytes === 0) return
    const { guards, exchange, signal } = this.#options
    if (signal.aborted) return
    const window = this.#open
    this.#open = { entries: [], bytes: 0 }
    const text = textOf(window)
    const shown = this.#before
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
