import { Pace, type Steps } from '#base/in-slices.ts'
import type { TextOutput, TextStage } from './text-stage.ts'

/** A part is up to 37 telephone numbers, of 0.1 ms each. */
const WORK_PER_PART = 4096

/** A longer text goes through the guards in parts of so many UTF-16 units: some patterns find much to check in few characters. */
const PART_LENGTH = 256

/** A text of which parts are still within the stage. */
interface Parted<Tag> {
  readonly tag: Tag
  waiting: number
  /** Joined at once, because strings that are only added to each other are slow to write. */
  readonly passed: string[]
}

/** Stages through which long texts go in parts, as work that yields. They leave as they came: one text for each delta. */
export class PartedStage<Tag> implements TextStage<Tag> {
  readonly #inner: TextStage<Tag>
  readonly #later: (work: Steps<void>) => void
  readonly #inside: Parted<Tag>[] = []
  /** What waits for a long text before it. */
  readonly #queue: { readonly tag: Tag; readonly text: string }[] = []
  #isWorking = false
  #isFinished = false

  /** @param later receives the work for long texts */
  constructor(
    out: TextOutput<Tag>,
    build: (out: TextOutput<Tag>) => TextStage<Tag>,
    later: (work: Steps<void>) => void,
  ) {
    this.#later = later
    this.#inner = build({
      text: (_, text) => {
        const first = this.#inside[0]!
        first.passed.push(text)
        if (--first.waiting > 0) return
        this.#inside.shift()
        out.text(first.tag, first.passed.length === 1 ? text : first.passed.join(''))
      },
      finish: () => out.finish(),
    })
  }

  text(tag: Tag, text: string): void {
    if (!this.#isWorking && text.length <= PART_LENGTH) {
      this.#inside.push({ tag, waiting: 1, passed: [] })
      return this.#inner.text(tag, text)
    }
    this.#queue.push({ tag, text })
    if (this.#isWorking) return
    this.#isWorking = true
    this.#later(this.#work())
  }

  finish(): void {
    this.#isFinished = true
    if (!this.#isWorking) this.#inner.finish()
  }

  *#work(): Steps<void> {
    const pace = new Pace()
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const { tag, text } = next
      const parts = Math.max(1, Math.ceil(text.length / PART_LENGTH))
      this.#inside.push({ tag, waiting: parts, passed: [] })
      for (let part = 0; part < parts; part++) {
        this.#inner.text(tag, text.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH))
        if (pace.after(WORK_PER_PART)) yield
      }
    }
    this.#isWorking = false
    if (this.#isFinished) this.#inner.finish()
  }
}
