import { Pace, type Steps } from '#base/in-slices.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** The work for a part, in characters: it may have 37 telephone numbers, which take 0.1 ms each. */
const WORK_PER_PART = 4096

/** Longer texts pass the guards in parts of this many UTF-16 units: some patterns are expensive for few characters. */
const PART_LENGTH = 256

/** A text of which parts are still within the stage. */
interface Parted<Tag> {
  readonly tag: Tag
  waiting: number
  /** The parts that have passed. One call joins them, because ropes of concatenated strings are slow to write. Undefined: there is one part. */
  readonly passed: string[] | undefined
  next: Parted<Tag> | undefined
}

/** Receives the work for long texts. */
export interface WorkQueue {
  later(work: Steps<void>): void
}

/** Joins the parts of each text. Most texts of a stream have one part, and need no list. */
class JoiningOutput<Tag> implements TextOutput<Tag> {
  readonly #out: TextOutput<Tag>
  #first: Parted<Tag> | undefined
  #last: Parted<Tag> | undefined

  constructor(out: TextOutput<Tag>) {
    this.#out = out
  }

  expect(tag: Tag, parts: number): void {
    const parted: Parted<Tag> = { tag, waiting: parts, passed: parts > 1 ? [] : undefined, next: undefined }
    if (this.#last === undefined) this.#first = parted
    else this.#last.next = parted
    this.#last = parted
  }

  text(_: Tag, text: string): void {
    const first = this.#first!
    first.passed?.push(text)
    if (--first.waiting > 0) return
    this.#first = first.next
    if (this.#first === undefined) this.#last = undefined
    this.#out.text(first.tag, first.passed === undefined ? text : first.passed.join(''))
  }

  finish(): void {
    this.#out.finish()
  }
}

/** Sends long texts through other stages in parts, as work that yields. The output has one text for each delta, like the input. */
export class PartedStage<Tag> implements TextStage<Tag> {
  readonly #inner: TextStage<Tag>
  readonly #joining: JoiningOutput<Tag>
  readonly #works: WorkQueue
  /** Texts that wait behind a long text. Undefined: none has waited yet. */
  #queue: { readonly tag: Tag; readonly text: string }[] | undefined
  #isWorking = false
  #isFinished = false

  constructor(out: TextOutput<Tag>, build: (out: TextOutput<Tag>) => TextStage<Tag>, works: WorkQueue) {
    this.#works = works
    this.#joining = new JoiningOutput(out)
    this.#inner = build(this.#joining)
  }

  text(tag: Tag, text: string): void {
    if (!this.#isWorking && text.length <= PART_LENGTH) {
      this.#joining.expect(tag, 1)
      return this.#inner.text(tag, text)
    }
    this.#queue ??= []
    this.#queue.push({ tag, text })
    if (this.#isWorking) return
    this.#isWorking = true
    this.#works.later(this.#work(this.#queue))
  }

  finish(): void {
    this.#isFinished = true
    if (!this.#isWorking) this.#inner.finish()
  }

  *#work(queue: { readonly tag: Tag; readonly text: string }[]): Steps<void> {
    const pace = new Pace()
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { tag, text } = next
      const parts = Math.max(1, Math.ceil(text.length / PART_LENGTH))
      this.#joining.expect(tag, parts)
      for (let part = 0; part < parts; part++) {
        this.#inner.text(tag, text.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH))
        if (pace.after(WORK_PER_PART)) yield
      }
    }
    this.#isWorking = false
    if (this.#isFinished) this.#inner.finish()
  }
}
