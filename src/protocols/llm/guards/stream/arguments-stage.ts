import { beginsArguments } from '../../texts/argument-texts.ts'
import { type JsonPart, JsonStringSplitter } from './json-string-splitter.ts'
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
}

export interface ArgumentsStageOptions<Tag> {
  /** The end of a text that has left and that this one goes on with; empty: there is none. */
  readonly before: string
  /** Checks one string, in the same turn. @param isKey it cannot be masked */
  readonly check: (out: TextOutput<OpenDelta<Tag>>, isKey: boolean) => TextStage<OpenDelta<Tag>>
  /** Checks what is no JSON as a text. @param before the end of what has left */
  readonly asText: (before: string) => TextStage<Tag>
}

/** How much of the end of what has left a text that is no JSON is checked with, in UTF-16 units. */
const TAIL_LENGTH = 256

/**
 * The JSON text of the arguments of a call: each string in it is checked by itself, and stays a string. From where it turns out to be no JSON, it is checked as a
 * text.
 */
export class ArgumentsStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: ArgumentsStageOptions<Tag>
  readonly #splitter = new JsonStringSplitter()
  readonly #open: OpenDelta<Tag>[] = []
  #string: TextStage<OpenDelta<Tag>> | undefined
  #hasBegun = false
  /** The end of what has left. */
  #tail = ''
  /** It is no JSON. */
  #plain: TextStage<Tag> | undefined

  constructor(out: TextOutput<Tag>, options: ArgumentsStageOptions<Tag>) {
    this.#out = out
    this.#options = options
    if (options.before !== '') this.#plain = options.asText(options.before)
  }

  /** What has arrived is no JSON. */
  get isPlain(): boolean {
    return this.#plain !== undefined
  }

  text(tag: Tag, text: string): void {
    if (this.#plain !== undefined) return this.#plain.text(tag, text)
    const { pending } = this.#splitter
    const delta: OpenDelta<Tag> = { tag, original: text, pending, parts: [], waiting: 0 }
    this.#open.push(delta)
    if (!this.#mayGoOn(text) || !this.#splitter.push(text, (part) => this.#take(delta, part))) return this.#goOnAsText()
    this.#release()
  }

  finish(): void {
    if (this.#plain !== undefined) return this.#plain.finish()
    this.#string?.finish()
    this.#release()
    this.#out.finish()
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
    this.#plain = this.#options.asText(this.#tail)
    // The escape before another one is in the delta before it.
    const [first, ...others] = this.#open.splice(0)
    this.#plain.text(first!.tag, first!.pending + first!.original)
    for (const { tag, original } of others) this.#plain.text(tag, original)
  }

  #take(delta: OpenDelta<Tag>, part: JsonPart): void {
    switch (part.kind) {
      case 'outside':
        delta.parts.push(part.text)
        return
      case 'begin':
        delta.parts.push('"')
        this.#string = this.#options.check(WRITTEN, part.isKey)
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
    while (this.#open[0]?.waiting === 0) {
      const { tag, parts } = this.#open.shift()!
      const text = parts.join('')
      this.#tail = (this.#tail + text).slice(-TAIL_LENGTH)
      this.#out.text(tag, text)
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
