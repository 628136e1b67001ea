import { Pace, type Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { JsonValue, parseInSteps } from '../../json/json-document.ts'
import { decodeLongString, PIECE_BYTES } from '../../json/json-pieces.ts'
import { decodeText } from '../../json/native.ts'
import type { EventText, TextPlace } from '../../texts/body-texts.ts'
import { ANSWER_TEXTS } from '../../texts/dialect-texts.ts'
import { readTextFile } from '../../texts/file-data.ts'
import { StreamNumbers } from '../../texts/stream-numbers.ts'
import type { GuardedFormat } from '../guarded-format.ts'
import { EventTemplate } from './event-template.ts'

/** Where the JSON string of a text is in the data of an event. */
export type StringPlace = Pick<TextPlace, 'start' | 'end'>

/** Receives the texts of an event, and then the blocks that end with it. */
export interface EventReceiver {
  /** @returns the rest of the work, if the text is long */
  text(about: EventText, original: string, place: StringPlace): Steps<void> | undefined
  close(blocks: readonly string[]): Steps<void>
}

/** The work for a text besides that for its characters: it may be the first one of its block. */
const WORK_PER_TEXT = 1024

/** Longer events are rare, and copying them for the next ones takes time. */
const LONG_EVENT_BYTES = 65_536

/** More lists of tokens at a time are none of a chat. */
const MAX_TOKEN_BLOCKS = 256

/** Reads the texts of the events of one stream. */
export class EventReader {
  readonly #format: GuardedFormat
  readonly #receiver: EventReceiver
  /** Of the last event that can be one, and its text. */
  #template: EventTemplate | undefined
  #about: EventText | undefined
  #templateType = ''
  /** Decoders of tokens, by block. */
  readonly #tokens = new Map<string, TextDecoder>()
  readonly #numbers = new StreamNumbers()
  #type = ''

  constructor(format: GuardedFormat, receiver: EventReceiver) {
    this.#format = format
    this.#receiver = receiver
  }

  /** In the last event; empty: it has none. */
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

  #decoderOf(block: string): TextDecoder {
    let decoder = this.#tokens.get(block)
    if (decoder === undefined) {
      decoder = new TextDecoder()
      if (this.#tokens.size === MAX_TOKEN_BLOCKS) this.#tokens.clear()
      this.#tokens.set(block, decoder)
    }
    return decoder
  }

  /** What guards check instead of a file, which would be written again as a text of one event, or instead of a part of a character. */
  #shownFor({ block, form, place: { mediaType, bytes } }: EventText, original: string): string | undefined {
    if (bytes !== undefined) {
      return this.#decoderOf(block).decode(bytes, { stream: true })
    }
    const file = form === 'base64' ? readTextFile(original, mediaType) : undefined
    return typeof file === 'object' ? file.text : undefined
  }

  *#parse(data: Uint8Array): Steps<boolean> {
    const receiver = this.#receiver
    const event = yield* parseInSteps(data)
    if (!(event instanceof JsonValue)) return false
    yield
    this.#type = event.get('type')?.text ?? ''
    const { places, textAt, closes, isSteady } = yield* ANSWER_TEXTS[this.#format].event(
      event,
      undefined,
      this.#numbers,
    )
    const pace = new Pace()
    for (const place of places) {
      const text = textAt(place)
      const { start, end } = place
      const isLong = end - start > PIECE_BYTES
      const original = isLong ? yield* decodeLongString(data, start + 1, end - 1) : decode(data, text.place)
      if (original === undefined) return false
      const shown = this.#shownFor(text, original)
      // A place of its own: the rest of the event need not stay in memory.
      const rest =
        shown === undefined
          ? receiver.text(text, original, { start, end })
          : receiver.text(fixed(text), shown, { start, end })
      if (rest !== undefined) yield* rest
      if (pace.after(WORK_PER_TEXT)) yield
    }
    if (closes.length > 0) yield* receiver.close(closes)
    // What looks like the last event that fitted may belong to a call that has begun since.
    this.#template = undefined
    if (!isSteady || data.length > LONG_EVENT_BYTES) return true
    this.#about = textAt(places[0]!)
    this.#templateType = this.#type
    this.#template = EventTemplate.of(data, event, this.#about.place)
    return true
  }
}

/** What matches cannot be masked. */
function fixed(about: EventText): EventText {
  const { start, end, path } = about.place
  return { ...about, form: 'string', place: { start, end, path, form: 'string', canChange: false } }
}

function* finish(rest: Steps<void>): Steps<true> {
  yield* rest
  return true
}

/** A provider may have cut a character into two surrogates, one in each event. Undefined: it is no text. */
function decode(data: Uint8Array, { start, end }: StringPlace): string | undefined {
  const text: unknown = parseJson(decodeText(data, start, end))
  return typeof text === 'string' ? text : undefined
}
