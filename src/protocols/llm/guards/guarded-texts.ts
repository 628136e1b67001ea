import { parseJson } from '#base/parse-json.ts'
import { decodeText } from '../json/native.ts'
import { applySplices, encode, type Splice } from '../json/splice.ts'
import { readArguments } from '../texts/argument-texts.ts'
import type { BodyTexts, TextPlace, TextRun } from '../texts/body-texts.ts'
import { readTextFile } from '../texts/file-data.ts'

/** One text of a body, as the next guard sees it. */
export interface GuardedText {
  text: string
  /** False: what matches cannot be masked. */
  readonly canChange: boolean
  /** The model reads it together with the other texts of its run that join. */
  readonly joins: boolean
}

/** The texts of one message, or of another part of the body. */
export interface GuardedRun {
  readonly role: TextRun['role']
  readonly texts: readonly GuardedText[]
}

/** A text that cannot be checked. */
export interface UnreadableText {
  readonly unreadable: string
}

/** Others may run after so many texts. */
export const TEXTS_PER_STEP = 64

/** A string of the body with the texts in it. */
interface Slot {
  readonly place: TextPlace
  /** The string as it is now; undefined if nothing changed. */
  write(): string | undefined
}

/** The texts of a body, decoded, in the order in which the model reads them. */
export class GuardedTexts {
  readonly runs: readonly GuardedRun[]
  /** Texts of several neighbouring runs of one role, which the model reads one after the other. */
  readonly groups: readonly (readonly GuardedText[])[]
  readonly #bytes: Uint8Array
  readonly #slots: readonly Slot[]

  private constructor(bytes: Uint8Array, runs: readonly GuardedRun[], groups: readonly GuardedText[][], slots: Slot[]) {
    this.#bytes = bytes
    this.runs = runs
    this.groups = groups
    this.#slots = slots
  }

  static read(bytes: Uint8Array, texts: BodyTexts): GuardedTexts | UnreadableText {
    const reading = GuardedTexts.readInSteps(bytes, texts)
    for (;;) {
      const step = reading.next()
      if (step.done === true) return step.value
    }
  }

  /** The same for a large body: the caller lets others run between the steps. */
  static *readInSteps(bytes: Uint8Array, { runs }: BodyTexts): Generator<undefined, GuardedTexts | UnreadableText> {
    const read: GuardedRun[] = []
    const slots: Slot[] = []
    const groups: { readonly role: string; runs: number; readonly texts: GuardedText[] }[] = []
    for (const { role, joins, places } of runs) {
      const texts: GuardedText[] = []
      for (const place of places) {
        if (slots.length % TEXTS_PER_STEP === 0) yield
        const text = decodePlace(bytes, place)
        if (text === undefined) return { unreadable: `${place.path}: text with a lone surrogate` }
        const slot = readSlot(place, text, joins, texts)
        if (slot === undefined) return { unreadable: `${place.path}: a text file that is not base64` }
        slots.push(slot)
      }
      read.push({ role, texts })
      if (!joins) continue
      if (groups.at(-1)?.role !== role) groups.push({ role, runs: 0, texts: [] })
      const group = groups.at(-1)!
      group.runs++
      for (const text of texts) if (text.joins) group.texts.push(text)
    }
    return new GuardedTexts(
      bytes,
      read,
      groups.filter((group) => group.runs > 1).map(({ texts }) => texts),
      slots,
    )
  }

  /** Of all texts, in UTF-16 units. */
  get length(): number {
    let length = 0
    for (const { texts } of this.runs) for (const { text } of texts) length += text.length
    return length
  }

  /** The body with the texts as they are now: the given bytes if none changed. */
  apply(): Uint8Array {
    const splices: Splice[] = []
    for (const { place, write } of this.#slots) {
      const text = write()
      if (text !== undefined) splices.push({ start: place.start, end: place.end, text: encode(JSON.stringify(text)) })
    }
    return applySplices(this.#bytes, splices)
  }
}

/** Undefined: it has lone surrogates, which parsers read differently. */
function decodePlace(bytes: Uint8Array, { start, end }: TextPlace): string | undefined {
  const text: unknown = parseJson(decodeText(bytes, start, end))
  return typeof text === 'string' && text.isWellFormed() ? text : undefined
}

/** Undefined: it cannot be read. */
function readSlot(place: TextPlace, text: string, joins: boolean, texts: GuardedText[]): Slot | undefined {
  if (place.form === 'base64') return fileSlot(place, text, texts)
  if (place.form === 'arguments') return argumentsSlot(place, text, texts) ?? plainSlot(place, text, false, texts)
  return plainSlot(place, text, joins, texts)
}

function plainSlot(place: TextPlace, original: string, joins: boolean, texts: GuardedText[]): Slot {
  const { canChange } = place
  const entry: GuardedText = { text: original, canChange, joins }
  texts.push(entry)
  return { place, write: () => (entry.text === original ? undefined : entry.text) }
}

function fileSlot(place: TextPlace, data: string, texts: GuardedText[]): Slot | undefined {
  const file = readTextFile(data, undefined)
  if (file === 'invalid' || file === undefined) return undefined
  const { text: original, isDamaged, write } = file
  const entry: GuardedText = {
    text: original,
    canChange: place.canChange && !isDamaged,
    joins: false,
  }
  texts.push(entry)
  return { place, write: () => (entry.text === original ? undefined : write(entry.text)) }
}

/** Each string in the JSON changes by itself. Undefined: it is no JSON. */
function argumentsSlot(place: TextPlace, json: string, texts: GuardedText[]): Slot | undefined {
  const found = readArguments(json)
  if (found === undefined) return undefined
  const leaves = found.map((leaf) => {
    const canChange = leaf.canChange && place.canChange
    const entry: GuardedText = { text: leaf.text, canChange, joins: false }
    texts.push(entry)
    return { leaf, entry }
  })
  const write = () => {
    const splices = leaves.flatMap(({ leaf: { start, end, text }, entry }) =>
      entry.text === text ? [] : [{ start, end, text: encode(JSON.stringify(entry.text)) }],
    )
    if (splices.length === 0) return undefined
    const out = applySplices(encode(json), splices)
    return decodeText(out, 0, out.length)
  }
  return { place, write }
}
