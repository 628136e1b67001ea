import { Pace, type Steps } from '#base/in-slices.ts'
import { utf8Length } from '#base/utf8-length.ts'
import { decodeLongString, decodeString, PIECE_BYTES, replaceByString } from '../../json/json-pieces.ts'
import { decodeText } from '../../json/native.ts'
import { encode, type Splice, spliceInSteps } from '../../json/splice.ts'
import { readArguments } from '../../texts/argument-texts.ts'
import type { BodyTexts, TextPlace, TextRun } from '../../texts/body-texts.ts'
import { readTextFile } from '../../texts/file-data.ts'
import { GuardedText } from './guarded-text.ts'
import { type ManyTexts, ManyTextsBuilder } from './many-texts.ts'

/** The texts of one message, or of another part of the body. */
export interface GuardedRun {
  readonly role: TextRun['role']
  readonly joins: boolean
  readonly texts: readonly GuardedText[]
}

/** A text that cannot be checked. */
export interface UnreadableText {
  readonly unreadable: string
}

/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 128
/** The work for a text that is only counted, or put into a list. */
const WORK_PER_COUNTED = 4

/** `[` */
const LIST = 0x5b

/** From this many strings in the arguments of a call on, they share one object. */
const MANY = 4096

/** A string of the body with the texts in it. A body may have very many slots, so that they keep nothing else. */
interface Slot {
  readonly start: number
  readonly end: number
  /** The string as it is now; undefined if nothing changed. */
  write(pace: Pace): string | undefined | Steps<string | undefined>
}

/** The texts of a body, decoded, in the order in which the model reads them. */
export class GuardedTexts {
  readonly runs: readonly GuardedRun[]
  readonly #bytes: Uint8Array
  readonly #slots: readonly (Slot | LogprobsSlot)[]

  private constructor(bytes: Uint8Array, runs: readonly GuardedRun[], slots: readonly (Slot | LogprobsSlot)[]) {
    this.#bytes = bytes
    this.runs = runs
    this.#slots = slots
  }

  /** Yields between texts. */
  static *read(bytes: Uint8Array, { runs }: BodyTexts): Steps<GuardedTexts | UnreadableText> {
    const pace = new Pace()
    const read: GuardedRun[] = []
    const slots: (Slot | LogprobsSlot)[] = []
    for (const { role, joins, places } of runs) {
      const texts: GuardedText[] = []
      for (const place of places) {
        if (pace.after(WORK_PER_TEXT + place.end - place.start)) yield
        if (place.form === 'logprobs') {
          slots.push(new LogprobsSlot(bytes, place))
          continue
        }
        if (place.form === 'number') return { unreadable: `${place.path}: a number, where guards need text` }
        const text = place.end - place.start > PIECE_BYTES ? yield* decodeLong(bytes, place) : decodePlace(bytes, place)
        if (text === undefined) return { unreadable: `${place.path}: text with a lone surrogate` }
        const slot = yield* readSlot(place, text, texts, pace)
        if (slot === undefined) return { unreadable: `${place.path}: a text file that is not base64` }
        slots.push(slot)
      }
      read.push({ role, joins, texts })
    }
    return new GuardedTexts(bytes, read, slots)
  }

  /** The length of all texts, in UTF-16 units. Yields between them. */
  *measure(): Steps<number> {
    const pace = new Pace()
    let length = 0
    for (const { texts } of this.runs) {
      for (const text of texts) {
        length += text.length
        if (pace.after(WORK_PER_COUNTED)) yield
      }
    }
    return length
  }

  /** The body with the texts as they are now: the given bytes if none changed. */
  *apply(): Steps<Uint8Array> {
    const pace = new Pace()
    const splices: Splice[] = []
    for (const slot of this.#slots) {
      if (pace.after(1)) yield
      if (slot instanceof LogprobsSlot) {
        splices.push(slot)
        continue
      }
      const written = slot.write(pace)
      const text = typeof written === 'object' ? yield* written : written
      if (text === undefined) continue
      yield* replaceByString(splices, slot.start, slot.end, text)
      if (pace.after(WORK_PER_TEXT + text.length)) yield
    }
    return yield* spliceInSteps(this.#bytes, splices, pace)
  }
}

/** Undefined: it has lone surrogates, which parsers read differently. */
function decodePlace(bytes: Uint8Array, { start, end }: TextPlace): string | undefined {
  const text = decodeString(bytes, start + 1, end - 1)
  return text.isWellFormed() ? text : undefined
}

function* decodeLong(bytes: Uint8Array, { start, end }: TextPlace): Steps<string | undefined> {
  const text = yield* decodeLongString(bytes, start + 1, end - 1)
  return text.isWellFormed() ? text : undefined
}

/** Undefined: it cannot be read. */
function* readSlot(place: TextPlace, text: string, texts: GuardedText[], pace: Pace): Steps<Slot | undefined> {
  if (place.form === 'base64') return fileSlot(place, text, texts)
  const slot = place.form === 'arguments' ? yield* argumentsSlot(place, text, texts, pace) : undefined
  return slot ?? plainSlot(place, text, texts)
}

/** Log probabilities, which spell out texts that may be masked: they are removed. */
class LogprobsSlot implements Splice {
  readonly start: number
  readonly end: number
  readonly text: Uint8Array

  constructor(bytes: Uint8Array, place: TextPlace) {
    this.start = place.start
    this.end = place.end
    this.text = encode(emptyLogprobs(bytes, place))
  }
}

/** An API has a list of log probabilities, or an object with lists, which is null where there are none. */
export function emptyLogprobs(bytes: Uint8Array, { start }: Pick<TextPlace, 'start'>): string {
  return bytes[start] === LIST ? '[]' : 'null'
}

/** A string that is one text. */
class PlainSlot implements Slot {
  readonly start: number
  readonly end: number
  readonly #entry: GuardedText

  constructor({ start, end }: TextPlace, entry: GuardedText) {
    this.start = start
    this.end = end
    this.#entry = entry
  }

  write(): string | undefined {
    return this.#entry.hasChanged ? this.#entry.text : undefined
  }
}

function plainSlot(place: TextPlace, text: string, texts: GuardedText[]): Slot {
  const entry = new GuardedText(text, place.canChange)
  texts.push(entry)
  return new PlainSlot(place, entry)
}

/** Undefined: it is no file. */
function fileSlot(place: TextPlace, data: string, texts: GuardedText[]): Slot | undefined {
  const file = readTextFile(data, place.mediaType)
  if (file === 'invalid' || file === undefined) return undefined
  const { text, isDamaged, write } = file
  const entry = new GuardedText(text, place.canChange && !isDamaged)
  texts.push(entry)
  const { start, end } = place
  return { start, end, write: () => (entry.hasChanged ? write(entry.text) : undefined) }
}

/** Each string in the JSON is a text of its own. Undefined: it is no JSON. */
function* argumentsSlot(place: TextPlace, json: string, texts: GuardedText[], pace: Pace): Steps<Slot | undefined> {
  const first = texts.length
  let many: ManyTextsBuilder | undefined
  const isJson = yield* readArguments(json, pace, (text, isValue) => {
    const canChange = isValue && place.canChange
    if (many !== undefined) return many.add(text, canChange)
    texts.push(new GuardedText(text, canChange))
    if (texts.length - first < MANY) return
    many = new ManyTextsBuilder()
    for (const each of texts.splice(first)) many.add(each.text, each.canChange)
  })
  if (!isJson) return undefined
  const together = many?.build()
  if (together !== undefined) texts.push(together)
  return new ArgumentsSlot(place, json, { texts, first, end: texts.length, together })
}

/** The strings in the JSON: the texts from `first` to `end`, or one object for very many. */
interface ArgumentStrings {
  readonly texts: readonly GuardedText[]
  readonly first: number
  readonly end: number
  readonly together: ManyTexts | undefined
}

/** The arguments of a call. Positions of strings are not kept: if a string has changed, the JSON is read again. */
class ArgumentsSlot implements Slot {
  readonly start: number
  readonly end: number
  readonly #json: string
  readonly #texts: readonly GuardedText[]
  readonly #first: number
  readonly #end: number
  readonly #together: ManyTexts | undefined

  constructor(place: TextPlace, json: string, { texts, first, end, together }: ArgumentStrings) {
    this.start = place.start
    this.end = place.end
    this.#json = json
    this.#texts = texts
    this.#first = first
    this.#end = end
    this.#together = together
  }

  write(pace: Pace): Steps<string | undefined> | undefined {
    for (let at = this.#first; at < this.#end; at++) if (this.#texts[at]!.hasChanged) return this.#rewrite(pace)
    return undefined
  }

  *#rewrite(pace: Pace): Steps<string> {
    const changes: { start: number; end: number; text: string }[] = []
    let index = 0
    let [units, bytes] = [0, 0]
    const byteAt = (unit: number) => {
      bytes += utf8Length(this.#json.slice(units, unit))
      units = unit
      return bytes
    }
    yield* readArguments(this.#json, pace, (_, __, start, end) => {
      const text = this.#changedAt(index++)
      if (text !== undefined) changes.push({ start: byteAt(start), end: byteAt(end), text })
    })
    const splices: Splice[] = []
    for (const { start, end, text } of changes) {
      yield* replaceByString(splices, start, end, text)
      if (pace.after(WORK_PER_TEXT + text.length)) yield
    }
    const out = yield* spliceInSteps(encode(this.#json), splices, pace)
    return decodeText(out, 0, out.length)
  }

  /** The text of a string as it is now; undefined if it has not changed. */
  #changedAt(index: number): string | undefined {
    if (this.#together !== undefined) return this.#together.changedAt(index)
    const { hasChanged, text } = this.#texts[this.#first + index]!
    return hasChanged ? text : undefined
  }
}
