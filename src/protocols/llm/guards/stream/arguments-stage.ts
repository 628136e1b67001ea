import { beginsArguments } from '../../texts/argument-texts.ts'
import { type JsonPart, JsonStringSplitter } from './json-string-splitter.ts'
import { RegexStage, type RegexStageOptions } from './regex-stage.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** A delta whose strings have not all passed. */
interface OpenDelta<Tag> {
  readonly tag: Tag
  /** As it arrived. */
  readonly original: string
  /** The beginning of an escape, from the delta before it. */
  readonly pending: string
  /** What leaves instead: joined at once, because strings that are only added to each other are slow to write. */
  readonly parts: string[]
  /** Parts of strings that are being checked. */
  waiting: number
  next: OpenDelta<Tag> | undefined
}

/** How much of the end of what has left a text that is no JSON is checked with, in UTF-16 units. */
const TAIL_LENGTH = 256

export interface ArgumentsStageOptions extends Omit<RegexStageOptions, 'begun'> {
  /** That of the beginning of the text, which seemed to be over. */
  readonly begun: ArgumentsStage<unknown> | undefined
}

/**
 * The JSON text of the arguments of a call: each string in it is checked by itself, and stays a string. From where it turns out to be no JSON, it is checked as a
 * text.
 */
export class ArgumentsStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: ArgumentsStageOptions
  readonly #splitter = new JsonStringSplitter()
  /** Deltas that have not passed, in order. */
  #first: OpenDelta<Tag> | undefined
  #last: OpenDelta<Tag> | undefined
  #string: TextStage<OpenDelta<Tag>> | undefined
  #hasBegun = false
  /** The end of what has left. */
  #tail = ''
  /** It is no JSON. */
  #plain: RegexStage<Tag> | undefined

  /** @param options for the checks of its strings, or of the whole text if it is not JSON */
  constructor(out: TextOutput<Tag>, options: ArgumentsStageOptions) {
    this.#out = out
    this.#options = options
    const begun = options.begun === undefined ? undefined : options.begun.#plain
    if (begun !== undefined) this.#plain = new RegexStage(out, { ...options, begun })
  }

  /** What has arrived is no JSON. */
  get isPlain(): boolean {
    return this.#plain !== undefined
  }

  text(tag: Tag, text: string): void {
    if (this.#plain !== undefined) return this.#plain.text(tag, text)
    const { pending } = this.#splitter
    const delta: OpenDelta<Tag> = { tag, original: text, pending, parts: [], waiting: 0, next: undefined }
    if (this.#last === undefined) this.#first = delta
    else this.#last.next = delta
    this.#last = delta
    if (!this.#mayGoOn(text) || !this.#splitter.push(text, (part) => this.#take(delta, part))) return this.#goOnAsText()
    this.#release()
  }

  finish(): void {
    if (this.#plain !== undefined) return this.#plain.finish()
    this.#string?.finish()
    this.#release()
    this.#out.finish()
  }

  #asText(before: string): RegexStage<Tag> {
    return new RegexStage(this.#out, { ...this.#options, begun: undefined, before })
  }

  /** Numbers and literals alone are no arguments. */
  #mayGoOn(text: string): boolean {
    if (this.#hasBegun) return true
    const first = text.trimStart()
    if (first === '') return true
    this.#hasBegun = true
    return beginsArguments(first)
  }

  #goOnAsText(): void {
    this.#plain = this.#asText(this.#tail)
    // The escape before another one is in the delta before it.
    let before = this.#first!.pending
    for (let delta = this.#first; delta !== undefined; delta = delta.next) {
      this.#plain.text(delta.tag, before + delta.original)
      before = ''
    }
    this.#first = this.#last = undefined
  }

  #take(delta: OpenDelta<Tag>, part: JsonPart): void {
    switch (part.kind) {
      case 'outside':
        delta.parts.push(part.text)
        return
      case 'begin':
        delta.parts.push('"')
        this.#string = new RegexStage(WRITTEN, {
          ...this.#options,
          begun: undefined,
          mayGoOn: false,
          isFixed: part.isKey || this.#options.isFixed,
        })
        return
      case 'inside':
        delta.waiting++
        this.#string!.text(delta, part.text)
        return
      case 'end':
        this.#string!.finish()
        this.#string = undefined
        delta.parts.push('"')
    }
  }

  #release(): void {
    for (let delta = this.#first; delta?.waiting === 0; delta = this.#first) {
      this.#first = delta.next
      if (this.#first === undefined) this.#last = undefined
      const text = delta.parts.join('')
      this.#tail = (this.#tail + text).slice(-TAIL_LENGTH)
      this.#out.text(delta.tag, text)
    }
  }
}

/** Writes what passes back into its delta. */
const WRITTEN: TextOutput<OpenDelta<unknown>> = {
  text(delta, text) {
    delta.parts.push(JSON.stringify(text).slice(1, -1))
    delta.waiting--
  },
  finish() {},
}
