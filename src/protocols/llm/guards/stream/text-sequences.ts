import { compareTexts } from '../../texts/read-together.ts'
import type { RegexGuard } from '../guard.ts'
import type { RegexStage, StageBefore, StageNeighbours } from './regex-stage.ts'

/** More texts before the last one of a sequence are forgotten: no text comes before them. */
const MAX_TEXTS = 16

/** The sequences of few texts, such as those of one item, that are remembered. */
const MAX_SEQUENCES = 64

const NONE: ReturnType<StageNeighbours['after']> = []

/** A text of a stream, and the texts around it in the sequences that it belongs to. */
export class SequencedText {
  /** Where the text is in a whole answer. */
  readonly path: string
  readonly sequences: readonly string[]
  /** The stages of its guards. */
  readonly stages = new Map<RegexGuard, RegexStage<unknown>>()
  readonly before = new Map<string, SequencedText>()
  readonly after = new Map<string, SequencedText>()
  isEntered = false
  /** A later text is checked without it. */
  isForgotten = false
  /** The end of what has left of it. */
  tail: () => string = () => ''

  constructor(path: string, sequences: readonly string[]) {
    this.path = path
    this.sequences = sequences
  }

  /** The end of what has left before the text. */
  get tailBefore(): string {
    const [before] = this.before.values()
    return before?.tail() ?? ''
  }

  neighboursFor(guard: RegexGuard): StageNeighbours {
    const { after } = this
    return {
      get isFollowed() {
        return after.size > 0
      },
      before: () => {
        const found: StageBefore[] = []
        for (const [sequence, { stages }] of this.before) {
          const stage = stages.get(guard)
          if (stage !== undefined) found.push({ sequence, stage })
        }
        return found
      },
      after: () => {
        if (this.after.size === 0) return NONE
        const texts = new Set(this.after.values())
        return Array.from(texts, ({ stages }) => stages.get(guard)).filter((stage) => stage !== undefined)
      },
    }
  }
}

interface Sequence {
  readonly texts: SequencedText[]
  /** Its first texts are forgotten. */
  isCut: boolean
}

/** The texts of a stream that are read together, in the order in which a client reads them. */
export class TextSequences {
  readonly #sequences = new Map<string, Sequence>()
  readonly #take: () => boolean

  /** @param take room for one more sequence that lasts */
  constructor(take: () => boolean) {
    this.#take = take
  }

  /** The text begins. @returns false if it cannot be checked: there is no room, or it comes before texts that are forgotten */
  enter(text: SequencedText): boolean {
    text.isEntered = true
    return text.sequences.every((name) => {
      const sequence = this.#sequenceOf(name)
      return sequence !== undefined && insert(text, name, sequence)
    })
  }

  /** No text follows in all sequences, or in those of a choice. */
  end(prefix: string): void {
    for (const [name, { texts }] of this.#sequences) {
      if (!`${name}.`.startsWith(prefix)) continue
      for (const stage of texts.at(-1)?.stages.values() ?? []) stage.endSequence(name)
    }
  }

  drop(): void {
    this.#sequences.clear()
  }

  #sequenceOf(name: string): Sequence | undefined {
    const known = this.#sequences.get(name)
    // The last one that was used is the last one of the map.
    if (known !== undefined) this.#sequences.delete(name)
    else if (this.#sequences.size >= MAX_SEQUENCES && !this.#makeRoom()) return undefined
    const sequence = known ?? { texts: [], isCut: false }
    this.#sequences.set(name, sequence)
    return sequence
  }

  /** Items and results come one after the other, and choices at the same time. */
  #makeRoom(): boolean {
    for (const name of this.#sequences.keys()) {
      if (/^(?:output|content)\[/.test(name)) return this.#sequences.delete(name)
    }
    return this.#take()
  }
}

function insert(text: SequencedText, name: string, sequence: Sequence): boolean {
  const { texts } = sequence
  let at = texts.length
  while (at > 0 && compareTexts(text.path, texts[at - 1]!.path) < 0) at--
  if (at === 0 && sequence.isCut) return false
  const [before, after] = [texts[at - 1], texts[at]]
  texts.splice(at, 0, text)
  if (before !== undefined) {
    before.after.set(name, text)
    text.before.set(name, before)
  }
  if (after !== undefined) {
    after.before.set(name, text)
    text.after.set(name, after)
  }
  if (texts.length <= MAX_TEXTS) return true
  texts.shift()!.isForgotten = true
  texts[0]!.before.delete(name)
  sequence.isCut = true
  return true
}
