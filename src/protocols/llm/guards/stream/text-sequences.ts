import { answerPath, sequencesOf } from '../../texts/dialect-texts.ts'
import { type AnswerFormat, compareTexts, type TextOwner } from '../../texts/read-together.ts'
import type { Guard, RegexGuard } from '../guard.ts'
import type { ArgumentsStage } from '../stages/arguments-stage.ts'
import { RegexStage, type StageBefore, type StageNeighbours } from '../stages/regex-stage.ts'

/** More texts before the last one of a sequence are forgotten: no text comes before them. */
const MAX_TEXTS = 16

/** The sequences of few texts, such as those of one item, that are remembered. */
const MAX_SEQUENCES = 64

/** The place of a text in a sequence. */
interface Link {
  readonly sequence: string
  /** Where the text is in a whole answer. */
  readonly path: string
  readonly text: SequencedText
  before: Link | undefined
  after: Link | undefined
}

/** A text of a stream, and the texts around it in the sequences that it belongs to. */
export class SequencedText implements StageNeighbours {
  /** What names it in events. */
  readonly key: string
  /** Undefined: it is read alone. */
  readonly owner: TextOwner | undefined
  /** Those of its guards. */
  readonly stages = new Map<Guard, RegexStage<unknown> | ArgumentsStage<unknown>>()
  /** Empty as long as it is the only text. */
  links: readonly Link[] = []
  isEntered = false
  /** A later text is checked without it. */
  isForgotten = false
  /** Its last block. */
  block: { readonly tail: string } | undefined

  constructor(key: string, owner: TextOwner | undefined) {
    this.key = key
    this.owner = owner
  }

  /** The end of what has left before the text. */
  get tailBefore(): string {
    const link = this.links.find(({ before }) => before !== undefined)
    return link?.before?.text.block?.tail ?? ''
  }

  get isFollowed(): boolean {
    return this.links.some(({ after }) => after !== undefined)
  }

  before(guard: RegexGuard): readonly StageBefore[] {
    return this.links.flatMap(({ sequence, before }) => {
      const stage = before?.text.stageOf(guard)
      return stage === undefined ? [] : { sequence, stage }
    })
  }

  after(guard: RegexGuard): readonly RegexStage<unknown>[] {
    const texts = new Set(this.links.map(({ after }) => after?.text))
    return Array.from(texts, (text) => text?.stageOf(guard)).filter((stage) => stage !== undefined)
  }

  stageOf(guard: RegexGuard): RegexStage<unknown> | undefined {
    const stage = this.stages.get(guard)
    return stage instanceof RegexStage ? stage : undefined
  }
}

interface Sequence {
  readonly links: Link[]
  /** Its first texts are forgotten. */
  isCut: boolean
}

/** The texts of a stream that are read together, in the order in which a client reads them. */
export class TextSequences {
  readonly #format: AnswerFormat
  readonly #sequences = new Map<string, Sequence>()
  /** Most streams have no other text: it gets its place when the second one begins. */
  #first: SequencedText | undefined
  readonly #take: () => boolean

  /** @param take room for one more sequence that lasts */
  constructor(format: AnswerFormat, take: () => boolean) {
    this.#format = format
    this.#take = take
  }

  /** The text begins. @returns false if it cannot be checked: there is no room, or it comes before texts that are forgotten */
  enter(text: SequencedText): boolean {
    text.isEntered = true
    if (this.#first === undefined) {
      this.#first = text
      return true
    }
    return this.#place(this.#first) && this.#place(text)
  }

  /** No text follows in all sequences, or in those of a choice. */
  end(prefix: string): void {
    for (const [name, { links }] of this.#sequences) {
      if (!`${name}.`.startsWith(prefix)) continue
      for (const stage of links.at(-1)?.text.stages.values() ?? []) {
        if (stage instanceof RegexStage) stage.endSequence(name)
      }
    }
  }

  drop(): void {
    this.#first = undefined
    this.#sequences.clear()
  }

  #place(text: SequencedText): boolean {
    const { key, owner, links } = text
    if (owner === undefined || links.length > 0) return true
    const path = answerPath(this.#format, key)
    const linkIn = (sequence: string): Link => ({ sequence, path, text, before: undefined, after: undefined })
    text.links = sequencesOf(this.#format, path, owner).map(linkIn)
    return text.links.every((link) => {
      const sequence = this.#sequenceOf(link.sequence)
      return sequence !== undefined && insert(link, sequence)
    })
  }

  #sequenceOf(name: string): Sequence | undefined {
    const known = this.#sequences.get(name)
    // The last one that was used is the last one of the map.
    if (known !== undefined) this.#sequences.delete(name)
    else if (this.#sequences.size >= MAX_SEQUENCES && !this.#makeRoom()) return undefined
    const sequence = known ?? { links: [], isCut: false }
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

function insert(link: Link, sequence: Sequence): boolean {
  const { links } = sequence
  let at = links.length
  while (at > 0 && compareTexts(link.path, links[at - 1]!.path) < 0) at--
  if (at === 0 && sequence.isCut) return false
  const [before, after] = [links[at - 1], links[at]]
  links.splice(at, 0, link)
  link.before = before
  link.after = after
  if (before !== undefined) before.after = link
  if (after !== undefined) after.before = link
  if (links.length <= MAX_TEXTS) return true
  links.shift()!.text.isForgotten = true
  links[0]!.before = undefined
  sequence.isCut = true
  return true
}
