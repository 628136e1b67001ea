import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { decodeText } from '../../json/native.ts'
import { writeJson } from '../../json/write-json.ts'
import type { WrittenResponse } from './response-object.ts'

type ResponseEvent = Extract<ResponseStreamEvent, { response: unknown }>
type DeltaEvent = Extract<ResponseStreamEvent, { delta: string }>
type Without<Event, Name extends PropertyKey> = Event extends unknown ? Omit<Event, Name> : never

/** Writes the events of a stream, numbered from 0. Their names are their types. */
export class ResponseEvents {
  readonly #write: (events: string) => void
  #count = 0

  constructor(write: (events: string) => void) {
    this.#write = write
  }

  emit(event: Without<Exclude<ResponseStreamEvent, ResponseEvent>, 'sequence_number'>): void {
    this.#write(`${beginning(event)}${this.#count++}}\n\n`)
  }

  /** @returns writes an event for each piece of a text */
  deltas(event: Without<DeltaEvent, 'delta' | 'sequence_number'>): (text: string) => void {
    const prefix = beginning(event)
    return (text) => this.#write(`${prefix}${this.#count++},"delta":${JSON.stringify(text)}}\n\n`)
  }

  emitResponse(type: ResponseEvent['type'], response: WrittenResponse): void {
    // Values of the client may have line ends, though never in strings. A line end would end the data.
    const written = decodeText(writeJson(response)).replace(/[\r\n]+/g, ' ')
    this.#write(`${beginning({ type })}${this.#count++},"response":${written}}\n\n`)
  }
}

function beginning(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event).slice(0, -1)},"sequence_number":`
}
