import { answerPath, sequencesOf } from '../../texts/dialect-texts.ts'
import { type AnswerFormat, compareTexts, type TextOwner } from '../../texts/read-together.ts'
import type { Guard, RegexGuard } from '../guard.ts'
import type { ArgumentsStage } from '../stages/arguments-stage.ts'
import { RegexStage, type StageBefore, type StageNeighbours } from '../stages/regex-stage.ts'
import type { ServiceStage } from '../stages/service-stage.ts'

/** More texts before the last one of a sequence are forgotten: no text comes before them. */
const MAX_TEXTS = 16

/** The sequences of few texts, such as those of one item, that are remembered. */
const MAX_SEQUENCES = 64

/** More choices at a time are none of a chat. */
const MAX_LASTING = 1024

/** The place of a text in a sequence. */
interface Link {
  readonly sequence: string
  /** Where the text is in a whole answer. */
  readonly path: string
  readonly text: SequencedText
  before: Link | undefined
  after: Link | undefined
  /** The sequence no longer has the text. */
  isCut: boolean
}

/** A text of a stream, and the texts around it in the sequences that it belongs to. */
export class SequencedText implements StageNeighbours {
  /** What names it in events. */
  readonly key: string
  /** Undefined: it is read alone. */
  readonly owner: TextOwner | undefined
  /** Those of its guards. */
  readonly stages = new Map<Guard, RegexStage<unknown> | ArgumentsStage<unknown> | ServiceStage<unknown>>()
  /** Empty as long as it is the only text. */
  links: readonly Link[] = []
  isEntered = false
  /** It is in no sequence. */
  isAlone: boolean
  /** A later text is checked without it. */
  isForgotten = false
  /** Its last block. */
  block: { readonly tail: string } | undefined

  constructor(key: string, owner: TextOwner | undefined) {
    this.key = key
    this.owner = owner
    this.isAlone = owner === undefined
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

  /** More of the text comes after it seemed to be over. */
  reopen(): void {
    for (const stage of this.stages.values()) if (stage instanceof RegexStage) stage.reopen()
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
  /** The sequences that make room for others, those that were used last at the end: items and results, and choices that have ended. */
  readonly #passing = new Set<string>()
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
    for (const name of this.#namesWith(prefix)) {
      for (const stage of this.#sequences.get(name)?.links.at(-1)?.text.stages.values() ?? []) {
        if (stage instanceof RegexStage) stage.endSequence(name)
      }
      if (this.#format === 'Completions' && this.#sequences.has(name)) this.#passing.add(name)
    }
  }

  /** There may be very many choices, and each has one sequence. */
  #namesWith(prefix: string): Iterable<string> {
    if (this.#format === 'Completions' && prefix !== '') return [prefix.slice(0, -1)]
    return this.#sequences.keys().filter((name) => `${name}.`.startsWith(prefix))
  }

  drop(): void {
    this.#first = undefined
    this.#sequences.clear()
    this.#passing.clear()
  }

  #place(text: SequencedText): boolean {
    const { key, owner, links } = text
    if (owner === undefined || text.isAlone || links.length > 0) return true
    const path = answerPath(this.#format, key)
    const linkIn = (sequence: string): Link => ({
      sequence,
      path,
      text,
      before: undefined,
      after: undefined,
      isCut: false,
    })
    text.links = sequencesOf(this.#format, path, owner).map(linkIn)
    text.isAlone = text.links.length === 0
    return text.links.every((link) => {
      const sequence = this.#sequenceOf(link.sequence)
      return sequence !== undefined && insert(link, sequence)
    })
  }

  #sequenceOf(name: string): Sequence | undefined {
    const known = this.#sequences.get(name)
    if (known === undefined && this.#sequences.size >= MAX_SEQUENCES && !this.#makeRoom()) return undefined
    this.#passing.delete(name)
    this.#sequences.delete(name)
    if (/^(?:output|content)\[/.test(name)) this.#passing.add(name)
    const sequence = known ?? { links: [], isCut: false }
    this.#sequences.set(name, sequence)
    return sequence
  }

  /** Items and results come one after the other, and choices at the same time. */
  #makeRoom(): boolean {
    const isFull = this.#sequences.size >= MAX_LASTING
    const [name] = isFull && this.#passing.size === 0 ? this.#sequences.keys() : this.#passing
    if (name === undefined) return this.#take()
    for (const link of this.#sequences.get(name)?.links ?? []) {
      // A choice does not go on.
      if (this.#format === 'Completions') link.text.isForgotten = true
      cut(link)
    }
    this.#passing.delete(name)
    return this.#sequences.delete(name)
  }
}

function insert(link: Link, sequence: Sequence): boolean {
  const { links } = sequence
  let at = links.length
  while (at > 0 && compareTexts(link.path, links[at - 1]!.path) < 0) at--
  if (at === 0 && (sequence.isCut || links.length === MAX_TEXTS)) return false
  const [before, after] = [links[at - 1], links[at]]
  links.splice(at, 0, link)
  link.before = before
  link.after = after
  if (before !== undefined) before.after = link
  if (after !== undefined) after.before = link
  if (links.length <= MAX_TEXTS) return true
  const first = links.shift()!
  first.text.isForgotten = true
  cut(first)
  links[0]!.before = undefined
  sequence.isCut = true
  return true
}

/** A text that is in no sequence any more is compared with no other, and its stages take much memory. */
function cut(link: Link): void {
  const { text } = link
  link.before = link.after = undefined
  link.isCut = true
  if (text.links.every(({ isCut }) => isCut)) text.stages.clear()
}
