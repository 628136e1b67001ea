import { beginsArguments } from '../../texts/argument-texts.ts'
import { chainsBehind, chainsBehindLeft, MaskPipeline } from '../rules/mask-pipeline.ts'
import { type JsonPart, JsonStringSplitter } from './json-string-splitter.ts'
import { RegexStage, type RegexStageOptions } from './regex-stage.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** A delta whose strings have not all passed. */
interface OpenDelta<Tag> {
  readonly tag: Tag
  /** What leaves instead: joined at once, because strings that are only added to each other are slow to write. */
  readonly parts: string[]
  /** Parts of strings that are being checked. */
  waiting: number
  next: OpenDelta<Tag> | undefined
}

/** How much of the end of what has left a text that is no JSON is checked with, in UTF-16 units. */
const TAIL_LENGTH = 256

export interface ArgumentsStageOptions extends Omit<RegexStageOptions, 'begun' | 'own'> {
  /** That of the beginning of the text, which seemed to be over. */
  readonly begun?: ArgumentsStage<unknown> | undefined
  /** The text turns out to be no JSON: it is checked from there on with all that is before, instead of the end of it. */
  readonly isBroken?: boolean
}

/**
 * The JSON text of the arguments of a call: each string in it is checked by itself, and stays a string. From where it turns out to be no JSON, it is checked as a
 * text, wherever it was cut into deltas. A match that begins before that place cannot be masked.
 */
export class ArgumentsStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: ArgumentsStageOptions
  readonly #splitter = new JsonStringSplitter()
  /** Deltas that have not passed, in order. */
  #first: OpenDelta<Tag> | undefined
  #last: OpenDelta<Tag> | undefined
  #string: TextStage<OpenDelta<Tag>> | undefined
  /** It begins as JSON. */
  #isJson = false
  /** The end of what has left. */
  #tail = ''
  /** What has left, if it is broken. */
  #left: MaskPipeline | undefined
  /** It is no JSON. */
  #plain: RegexStage<Tag> | undefined

  /** @param options for the checks of its strings, or of the whole text if it is not JSON */
  constructor(out: TextOutput<Tag>, options: ArgumentsStageOptions) {
    this.#out = out
    this.#options = options
    if (options.isBroken === true) this.#left = new MaskPipeline(options.guard.rules)
    const begun = options.begun === undefined ? undefined : options.begun.#plain
    if (begun !== undefined) this.#plain = new RegexStage(out, { ...options, begun })
  }

  /** What has arrived is no JSON. */
  get isPlain(): boolean {
    return this.#plain !== undefined
  }

  text(tag: Tag, text: string): void {
    if (this.#plain !== undefined) return this.#plain.text(tag, text)
    const delta: OpenDelta<Tag> = { tag, parts: [], waiting: 0, next: undefined }
    if (this.#last === undefined) this.#first = delta
    else this.#last.next = delta
    this.#last = delta
    if (!this.#isJson) {
      this.#isJson = beginsArguments(text)
      // Numbers and literals alone are no arguments.
      if (!this.#isJson && !BLANK.test(text)) return this.#goOnAsText(text)
    }
    const rest = this.#splitter.push(text, (part) => this.#take(delta, part))
    if (rest !== undefined) this.#goOnAsText(rest)
    else this.#release()
  }

  finish(): void {
    // The beginning of an escape, or nothing but space.
    const isText = this.#first !== undefined && (!this.#isJson || this.#splitter.pending !== '')
    if (this.#plain === undefined && isText) this.#goOnAsText(this.#splitter.pending)
    if (this.#plain !== undefined) return this.#plain.finish()
    this.#string?.finish()
    this.#release()
    this.#out.finish()
  }

  /** @param rest what is no JSON of the last delta */
  #goOnAsText(rest: string): void {
    this.#string?.finish()
    const [out, last] = [this.#out, this.#last!]
    const options = { ...this.#options, begun: undefined }
    if (!this.#isJson) {
      this.#plain = new RegexStage(out, options)
      for (let delta = this.#first; delta !== undefined; delta = delta.next) {
        this.#plain.text(delta.tag, delta.parts.join('') + (delta === last ? rest : ''))
      }
      return
    }
    this.#release(last)
    // A string in it has been refused.
    if (this.#first !== last || last.waiting > 0) return
    let before = last.parts.join('')
    this.#keep(before)
    const { rules } = options.guard
    const own = this.#left === undefined ? chainsBehind(rules, this.#tail) : chainsBehindLeft(this.#left)
    const behind: TextOutput<Tag> = {
      text(tag, text) {
        out.text(tag, before + text)
        before = ''
      },
      finish: () => out.finish(),
    }
    this.#plain = new RegexStage(behind, { ...options, own })
    this.#plain.text(last.tag, rest)
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

  /** Deltas whose strings have passed leave. @param end the first one that does not; by default one that ends within an escape */
  #release(end = this.#splitter.pending === '' ? undefined : this.#last): void {
    // Space waits for what it is before.
    if (!this.#isJson && this.#first?.parts.length !== 0) return
    for (let delta = this.#first; delta !== end && delta?.waiting === 0; delta = this.#first) {
      this.#first = delta.next
      if (this.#first === undefined) this.#last = undefined
      const text = delta.parts.join('')
      this.#keep(text)
      this.#out.text(delta.tag, text)
    }
  }

  #keep(text: string): void {
    if (this.#left !== undefined) {
      this.#left.push(0, text)
      this.#left.take()
    } else this.#tail = (this.#tail + text).slice(-TAIL_LENGTH)
  }
}

/** What can be before the beginning of arguments. */
const BLANK = /^[ \t\r\n]*$/

/** Writes what passes back into its delta. */
const WRITTEN: TextOutput<OpenDelta<unknown>> = {
  text(delta, text) {
    delta.parts.push(JSON.stringify(text).slice(1, -1))
    delta.waiting--
  },
  finish() {},
}
