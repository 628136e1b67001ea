import type { Reply, Seen } from '../replies.ts'
import type { Body } from './body.ts'

/** How a vendor speaks one of its APIs. */
export interface Vendor {
  read(body: Body, path: string): Seen
  answer(reply: Reply, model: string): object
  /** Events as bytes. */
  stream(reply: Reply, model: string, body: Body): Streamed
  error(status: number, message: string): object
  /** Headers of an error, besides the usual ones. */
  errorHeaders?(status: number): Readonly<Record<string, string>>
  /** An error event in a stream. */
  streamError(message: string): Uint8Array
  readonly streamType: string
}

export interface Streamed {
  readonly events: readonly Uint8Array[]
  /** How many of them there are until the first text is out. */
  readonly opening: number
}

/** Collects the events of a stream. */
export class Events {
  readonly events: Uint8Array[] = []
  opening = 0

  add(event: Uint8Array | string): void {
    this.events.push(typeof event === 'string' ? Buffer.from(event) : event)
  }

  /** The same for an event with text. */
  addText(event: Uint8Array | string): void {
    this.add(event)
    if (this.opening === 0) this.opening = this.events.length
  }
}

/** An event with a name, whose data have it as `type`. */
export function named(event: { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** A text in two pieces. */
export function halves(text: string): readonly [string, string] {
  const middle = text.length >> 1
  return [text.slice(0, middle), text.slice(middle)]
}
