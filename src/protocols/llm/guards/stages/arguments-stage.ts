import { type JsonPart, JsonStringSplitter } from './json-string-splitter.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** A delta that has not passed. */
export interface OpenDelta<Tag> {
  readonly tag: Tag
  readonly text: string
  /** What leaves instead of parts of it, in order. Undefined: nothing has changed. */
  edits: Edit[] | undefined
  /** Why it cannot pass: it is being read, parts of it are being checked, or its end waits for the next delta. */
  waiting: number
  /** Where its end begins that waits, or has waited, for the next delta. */
  settled: number
  /** Its end still waits, where the text seems to be over. */
  isCut: boolean
  next: OpenDelta<Tag> | undefined
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Text of a delta that is being checked: a part of a string, or of the invalid remainder. */
export interface ArgumentPiece<Tag> {
  readonly delta: OpenDelta<Tag>
  readonly start: number
  readonly end: number
  readonly text: string
  /** Deltas whose ends are the beginning of it. */
  readonly begun: readonly OpenDelta<Tag>[]
  readonly isString: boolean
}

/** How one guard checks arguments. What passes goes to the output that it was made with. */
export interface ArgumentChecks<Tag> {
  /** A string begins. @param isFixed it cannot be masked @param goesOn its beginning has left, because the text seemed to be over */
  string(isFixed: boolean, goesOn: boolean): TextStage<ArgumentPiece<Tag>>
  /**
   * The invalid remainder begins.
   * @param before the text before it in the same delta; undefined: the arguments do not begin as JSON
   * @param cut its beginning, which has left
   */
  text(before: string | undefined, cut: string): TextStage<ArgumentPiece<Tag>>
  /** JSON leaves. @returns false: it must not */
  left(text: string): boolean
  /** No text follows: its stages are finished. */
  finish(): void
}

/**
 * The JSON text of the arguments of a call: each string in it is checked by itself, and stays a string. From where it turns out to be no JSON, it is checked as a
 * text, wherever it was cut into deltas. What does not match stays as it is written.
 */
export class ArgumentsStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly checks: ArgumentChecks<Tag>
  readonly #splitter: JsonStringSplitter
  /** Deltas that have not passed, in order. */
  #first: OpenDelta<Tag> | undefined
  #last: OpenDelta<Tag> | undefined
  /** Those whose ends wait. */
  #unsettled: OpenDelta<Tag>[] = []
  /** The incomplete escape, number or literal at the end of the text that has left: what follows may make it invalid. */
  #cut = ''
  #string: TextStage<ArgumentPiece<Tag>> | undefined
  /** It is no JSON. */
  #plain: TextStage<ArgumentPiece<Tag>> | undefined

  /** @param begun that of the beginning of the text, which seemed to be over */
  constructor(
    out: TextOutput<Tag>,
    build: (checked: TextOutput<ArgumentPiece<Tag>>) => ArgumentChecks<Tag>,
    begun?: ArgumentsStage<unknown>,
  ) {
    this.#out = out
    this.checks = build({ text: (piece, text) => this.#pass(piece, text), finish: () => this.#end() })
    this.#splitter = begun === undefined ? new JsonStringSplitter() : begun.#splitter
    if (begun !== undefined) this.#cut = begun.#cut
    const { string, isInCharacter, isBroken } = this.#splitter
    if (isBroken) this.#plain = this.checks.text(undefined, '')
    // A mask cannot begin within a character.
    else if (string !== undefined) this.#string = this.checks.string(string === 'key' || isInCharacter, true)
  }

  /** What has arrived is no JSON. */
  get isPlain(): boolean {
    return this.#plain !== undefined
  }

  text(tag: Tag, text: string): void {
    const delta: OpenDelta<Tag> = { tag, text, edits: undefined, waiting: 1, settled: 0, isCut: false, next: undefined }
    if (this.#last === undefined) this.#first = delta
    else this.#last.next = delta
    this.#last = delta
    if (this.#plain !== undefined) this.#checkEnd(this.#plain, delta)
    else this.#read(delta)
    this.#free(delta)
  }

  finish(): void {
    // Nothing but space.
    if (!this.#splitter.hasBegun && this.#unsettled.length > 0) this.#goOnAsText()
    this.#endString(true)
    this.#plain?.finish(true)
    for (const delta of this.#takeUnsettled()) {
      this.#cut += delta.text.slice(delta.settled)
      delta.isCut = true
      this.#free(delta)
    }
    this.checks.finish()
  }

  #end(): void {
    // What is refused does not pass.
    if (this.#first === undefined) this.#out.finish()
  }

  #read(delta: OpenDelta<Tag>): void {
    const settled = this.#splitter.push(delta.text, (part) => this.#take(delta, part))
    if (settled > 0) this.#settle()
    if (settled === delta.text.length) return
    delta.settled = settled
    delta.waiting++
    this.#unsettled.push(delta)
    if (this.#splitter.isBroken) this.#goOnAsText()
  }

  #take(delta: OpenDelta<Tag>, part: JsonPart): void {
    switch (part.kind) {
      case 'begin':
        this.#settle()
        this.#string = this.checks.string(part.isKey, false)
        return
      case 'inside': {
        const { text } = part
        const piece = { ...this.#takeEnd(delta, part), text, isString: true }
        piece.delta.waiting++
        this.#string!.text(piece, text)
        return
      }
      case 'end':
        this.#endString()
    }
  }

  /** What a part ends in. If that is a delta that waits, its rest goes on to wait. */
  #takeEnd(delta: OpenDelta<Tag>, { start, end: endInLast }: { readonly start: number; readonly end: number }) {
    const begun = this.#takeUnsettled()
    let at = begun.length
    let end = endInLast
    while (end < 0 && at > 0) end += begun[--at]!.text.length
    this.#settleCut(Math.min(0, end))
    end = Math.max(0, end)
    const waiting = begun[at]
    if (waiting === undefined) return { delta, start, end, begun }
    this.#unsettled = begun.slice(at)
    const { settled } = waiting
    waiting.settled = end
    return { delta: waiting, start: settled, end, begun: begun.slice(0, at) }
  }

  #endString(mayGoOn = false): void {
    this.#string?.finish(mayGoOn)
    this.#string = undefined
  }

  /** The ends that wait need no check. */
  #settle(): void {
    this.#settleCut(0)
    for (const delta of this.#takeUnsettled()) this.#free(delta)
  }

  /** What has left is JSON. @param end so many units before its end */
  #settleCut(end: number): void {
    if (this.#cut === '') return
    const length = this.#cut.length + end
    this.checks.left(this.#cut.slice(0, length))
    this.#cut = this.#cut.slice(length)
  }

  #takeUnsettled(): readonly OpenDelta<Tag>[] {
    const unsettled = this.#unsettled
    if (unsettled.length === 0) return NONE
    this.#unsettled = []
    return unsettled
  }

  /** The ends that wait are no JSON. */
  #goOnAsText(): void {
    this.#endString()
    this.#plain = this.checks.text(this.#splitter.hasBegun ? this.#textBefore() : undefined, this.#cut)
    const unsettled = this.#takeUnsettled()
    for (const delta of unsettled) this.#checkEnd(this.#plain, delta)
    for (const delta of unsettled) this.#free(delta)
  }

  #textBefore(): string {
    const { settled, text, edits } = this.#unsettled[0]!
    return edited(text.slice(0, settled), edits)
  }

  #checkEnd(plain: TextStage<ArgumentPiece<Tag>>, delta: OpenDelta<Tag>): void {
    const text = delta.text.slice(delta.settled)
    delta.waiting++
    const piece = { delta, start: delta.settled, end: delta.text.length, text, begun: NONE, isString: false }
    plain.text(piece, text)
  }

  #pass(piece: ArgumentPiece<Tag>, text: string): void {
    const { delta, start, end, begun, isString } = piece
    if (text !== piece.text) {
      edit(delta, { start, end, text: isString ? JSON.stringify(text).slice(1, -1) : text })
      for (const each of begun) edit(each, { start: each.settled, end: each.text.length, text: '' })
    }
    for (const each of begun) this.#free(each)
    this.#free(delta)
  }

  /** The delta waits for one thing less. Deltas that wait for nothing leave. */
  #free(freed: OpenDelta<Tag>): void {
    freed.waiting--
    for (let delta = this.#first; delta?.waiting === 0; delta = this.#first) {
      const text = edited(delta.text, delta.edits)
      const cut = delta.isCut ? delta.text.length - delta.settled : 0
      if (this.#plain === undefined && !this.checks.left(text.slice(0, text.length - cut))) return
      this.#first = delta.next
      if (this.#first === undefined) this.#last = undefined
      this.#out.text(delta.tag, text)
    }
  }
}

const NONE: readonly never[] = []

function edit(delta: OpenDelta<unknown>, change: Edit): void {
  delta.edits ??= []
  delta.edits.push(change)
}

function edited(text: string, edits: readonly Edit[] = NONE): string {
  if (edits.length === 0) return text
  const parts: string[] = []
  let at = 0
  for (const { start, end, text: written } of edits) {
    parts.push(text.slice(at, start), written)
    at = end
  }
  parts.push(text.slice(at))
  return parts.join('')
}
