import { Pace, type Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { type ChatType, FORMATS } from '../../dialects/index.ts'
import { JsonValue, parseInSteps } from '../../json/json-document.ts'
import { decodeLongString, PIECE_BYTES } from '../../json/json-pieces.ts'
import { decodeText } from '../../json/native.ts'
import type { EventText, TextPlace } from '../../texts/body-texts.ts'
import { StreamNumbers } from '../../texts/call-numbers.ts'
import { readTextFile } from '../../texts/file-data.ts'
import { emptyLogprobs } from '../texts/guarded-texts.ts'
import { EventTemplate } from './event-template.ts'

/** Where the JSON string of a text is in the data of an event. */
export type StringPlace = Pick<TextPlace, 'start' | 'end'>

/** Receives the texts of an event, and then the blocks that end with it. */
export interface EventReceiver {
  /** @returns the rest of the work, if the text is long */
  text(about: EventText, original: string, place: StringPlace): Steps<void> | undefined
  /** @param json what the client gets instead */
  replace(place: StringPlace, json: string): void
  close(blocks: readonly string[]): Steps<void>
}

/** The work for a text besides that for its characters: it may be the first one of its block. */
const WORK_PER_TEXT = 1024

/** Longer events are rare, and copying them for the next ones takes time. */
const LONG_EVENT_BYTES = 65_536

/** Reads the texts of the events of one stream. */
export class EventReader {
  readonly #format: ChatType
  readonly #receiver: EventReceiver
  /** Made from the last event that can be a template, with its text. */
  #template: EventTemplate | undefined
  #about: EventText | undefined
  #templateType = ''
  readonly #numbers = new StreamNumbers()
  #type = ''

  constructor(format: ChatType, receiver: EventReceiver) {
    this.#format = format
    this.#receiver = receiver
  }

  /** The type of the last event; empty: it has none. */
  get type(): string {
    return this.#type
  }

  /** Reads the data between two positions. @returns false if the event cannot be read; steps if it is new or long */
  read(bytes: Uint8Array, start: number, end: number): boolean | Steps<boolean> {
    const fitting = this.#template?.read(bytes, start, end)
    if (fitting === undefined) return this.#parse(bytes.subarray(start, end))
    this.#type = this.#templateType
    const rest = this.#receiver.text(this.#about!, fitting.text, fitting)
    return rest === undefined || finish(rest)
  }

  *#parse(data: Uint8Array): Steps<boolean> {
    const receiver = this.#receiver
    const event = yield* parseInSteps(data)
    if (!(event instanceof JsonValue)) return false
    yield
    this.#type = event.get('type')?.text ?? ''
    const { places, textAt, closes, isSteady } = yield* FORMATS[this.#format].answerTexts.event(
      event,
      undefined,
      this.#numbers,
    )
    const pace = new Pace()
    for (const place of places) {
      const text = textAt(place)
      const { start, end } = place
      if (place.form === 'logprobs') {
        receiver.replace({ start, end }, emptyLogprobs(data, place))
        continue
      }
      const isLong = end - start > PIECE_BYTES
      const original = isLong ? yield* decodeLongString(data, start + 1, end - 1) : decode(data, text.place)
      if (original === undefined) return false
      const shown = fileText(text, original)
      // A new object for the place, so that the rest of the event need not stay in memory.
      const rest =
        shown === undefined
          ? receiver.text(text, original, { start, end })
          : receiver.text(fixed(text), shown, { start, end })
      if (rest !== undefined) yield* rest
      if (pace.after(WORK_PER_TEXT)) yield
    }
    if (closes.length > 0) yield* receiver.close(closes)
    // The old template is no longer valid: an event that fits it may belong to a call that has begun since.
    this.#template = undefined
    if (!isSteady || data.length > LONG_EVENT_BYTES) return true
    this.#about = textAt(places[0]!)
    this.#templateType = this.#type
    this.#template = EventTemplate.of(data, event, this.#about.place)
    return true
  }
}

/** The contents of a text file, which guards check instead of its data. Undefined: it is no text file. */
function fileText({ form, place: { mediaType } }: EventText, original: string): string | undefined {
  const file = form === 'base64' ? readTextFile(original, mediaType) : undefined
  return typeof file === 'object' ? file.text : undefined
}

/** The same text as one in which matches cannot be masked. */
function fixed(about: EventText): EventText {
  const { start, end, path } = about.place
  return { ...about, form: 'string', place: { start, end, path, form: 'string', canChange: false } }
}

function* finish(rest: Steps<void>): Steps<true> {
  yield* rest
  return true
}

/** The text may have a lone surrogate, if the provider has split a character between two events. Undefined: it is no text. */
function decode(data: Uint8Array, { start, end }: StringPlace): string | undefined {
  const text: unknown = parseJson(decodeText(data, start, end))
  return typeof text === 'string' ? text : undefined
}
