import { type JsonPart, JsonStringSplitter } from './json-string-splitter.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** A delta whose strings have not all passed. */
interface OpenDelta<Tag> {
  readonly tag: Tag
  text: string
  /** Parts of strings that are being checked. */
  waiting: number
  isComplete: boolean
}

export interface ArgumentsStageOptions<Tag> {
  /** Checks one string, in the same turn. @param isKey it cannot be masked */
  readonly check: (out: TextOutput<OpenDelta<Tag>>, isKey: boolean) => TextStage<OpenDelta<Tag>>
  /** The arguments are no JSON, so that they cannot be checked. */
  readonly unreadable: () => void
}

/** The JSON text of the arguments of a call: each string in it is checked by itself, and stays a string. */
export class ArgumentsStage<Tag> implements TextStage<Tag> {
  readonly #out: TextOutput<Tag>
  readonly #options: ArgumentsStageOptions<Tag>
  readonly #splitter = new JsonStringSplitter()
  readonly #open: OpenDelta<Tag>[] = []
  #string: TextStage<OpenDelta<Tag>> | undefined
  #isOver = false

  constructor(out: TextOutput<Tag>, options: ArgumentsStageOptions<Tag>) {
    this.#out = out
    this.#options = options
  }

  text(tag: Tag, text: string): void {
    if (this.#isOver) return
    const delta: OpenDelta<Tag> = { tag, text: '', waiting: 0, isComplete: false }
    this.#open.push(delta)
    if (!this.#splitter.push(text, (part) => this.#take(delta, part))) {
      this.#isOver = true
      return this.#options.unreadable()
    }
    delta.isComplete = true
    this.#release()
  }

  finish(): void {
    if (this.#isOver) return
    this.#string?.finish()
    this.#release()
    this.#isOver = true
    this.#out.finish()
  }

  #take(delta: OpenDelta<Tag>, part: JsonPart): void {
    switch (part.kind) {
      case 'outside':
        delta.text += part.text
        return
      case 'begin':
        delta.text += '"'
        this.#string = this.#options.check(WRITTEN, part.isKey)
        return
      case 'inside':
        delta.waiting++
        this.#string!.text(delta, part.text)
        return
      case 'end':
        this.#string!.finish()
        this.#string = undefined
        delta.text += '"'
    }
  }

  #release(): void {
    while (this.#open[0]?.isComplete === true && this.#open[0].waiting === 0) {
      const { tag, text } = this.#open.shift()!
      this.#out.text(tag, text)
    }
  }
}

/** Writes what passes back into its delta. */
const WRITTEN: TextOutput<OpenDelta<unknown>> = {
  text(delta, text) {
    delta.text += JSON.stringify(text).slice(1, -1)
    delta.waiting--
  },
  finish() {},
}
