/** One event of an event stream (WHATWG HTML, 9.2). */
export interface SseEvent {
  /** Type of the event; '' if the stream has none (the default is `message`). */
  readonly event: string
  /** Data lines joined by line feeds; '' when there is none. */
  readonly data: string
  readonly id: string | undefined
  /** Reconnection time. */
  readonly retryMs: number | undefined
}

/** The peer sent an event that exceeds the limit, possibly without end. */
export class SseEventTooLarge extends Error {
  constructor(maxChars: number) {
    super(`an event in the stream exceeds ${maxChars} characters`)
  }
}

/**
 * Parses an event stream piece by piece (WHATWG HTML, 9.2.6). Unlike a browser, it also returns blocks with only an id or a reconnection
 * time, because a gateway must forward them. Comments and unfinished last blocks are dropped.
 */
export class SseParser {
  readonly #decoder = new TextDecoder()
  readonly #maxChars: number
  /** Pieces of an unfinished line. They are joined only at its end; otherwise a long line would be copied with every piece. */
  #pieces: string[] = []
  #pending = 0
  /** The last line ended with CR; an LF right after it is part of the line end. */
  #sawReturn = false
  #event = ''
  /** Data lines. They are joined only at the end, because an event may have millions of empty ones. */
  #data: string[] = []
  #dataLength = 0
  #id: string | undefined
  #retryMs: number | undefined

  /** @param maxChars longest event that is accepted, in UTF-16 units */
  constructor(maxChars = 32 * 1024 * 1024) {
    this.#maxChars = maxChars
  }

  /**
   * Takes the next bytes. @returns the events that are complete now
   * @throws SseEventTooLarge
   */
  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = []
    let text = this.#decoder.decode(bytes, { stream: true })
    if (this.#sawReturn && text !== '') {
      this.#sawReturn = false
      if (text.startsWith('\n')) text = text.slice(1)
    }

    let start = 0
    const ends = new LineEnds(text)
    for (let end = ends.from(0); end >= 0; end = ends.from(start)) {
      this.#line(this.#takePending() + text.slice(start, end), events)
      start = end + 1
      if (text[end] !== '\r') continue
      if (start === text.length) this.#sawReturn = true
      else if (text[start] === '\n') start++
    }
    this.#pending += text.length - start
    if (start < text.length) this.#pieces.push(text.slice(start))
    if (this.held > this.#maxChars) throw new SseEventTooLarge(this.#maxChars)
    return events
  }

  /** Size of the unfinished event, in UTF-16 units. */
  get held(): number {
    return this.#pending + this.#dataLength
  }

  #takePending(): string {
    if (this.#pieces.length === 0) return ''
    const text = this.#pieces.join('')
    this.#pieces = []
    this.#pending = 0
    return text
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === '') return this.#dispatch(events)
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    switch (name) {
      case 'data':
        this.#data.push(value)
        this.#dataLength += value.length + 1
        return
      case 'event':
        this.#event = value
        return
      case 'id':
        if (!value.includes('\0')) this.#id = value
        return
      case 'retry':
        if (/^[0-9]{1,15}$/.test(value)) this.#retryMs = Number(value)
        return
    }
  }

  #dispatch(events: SseEvent[]): void {
    const { length } = events
    if (this.#data.length > 0 || this.#id !== undefined || this.#retryMs !== undefined) {
      events[length] = { event: this.#event, data: this.#data.join('\n'), id: this.#id, retryMs: this.#retryMs }
    }
    this.#event = ''
    this.#data = []
    this.#dataLength = 0
    this.#id = undefined
    this.#retryMs = undefined
  }
}

/** Text of one event with its final empty line. `event` and `id` must not have line breaks. */
export function formatSse(event: Partial<SseEvent>): string {
  let text = ''
  if (event.event) text += `event: ${event.event}\n`
  if (event.id !== undefined) text += `id: ${event.id}\n`
  if (event.retryMs !== undefined) text += `retry: ${event.retryMs}\n`
  const data = event.data ?? ''
  if (!/[\r\n]/.test(data)) return `${text}data: ${data}\n\n`
  for (const line of data.split(/\r\n|\r|\n/)) text += `data: ${line}\n`
  return `${text}\n`
}

/** Finds line ends in order. No part of the text is searched twice, whether it uses CR or LF. */
class LineEnds {
  readonly #text: string
  /** Position of the next of each; -1: none. */
  #feed: number
  #return: number

  constructor(text: string) {
    this.#text = text
    this.#feed = text.indexOf('\n')
    this.#return = text.indexOf('\r')
  }

  /** Index of the next CR or LF; -1 if there is none. */
  from(start: number): number {
    if (this.#feed >= 0 && this.#feed < start) this.#feed = this.#text.indexOf('\n', start)
    if (this.#return >= 0 && this.#return < start) this.#return = this.#text.indexOf('\r', start)
    if (this.#feed < 0) return this.#return
    return this.#return < 0 ? this.#feed : Math.min(this.#feed, this.#return)
  }
}
