const LF = 0x0a
const CR = 0x0d
const FIELD = new TextEncoder().encode('data:')

/** Finds the data of events in an event stream that arrives in arbitrary pieces (WHATWG HTML, 9.2.6). It holds nothing. */
export class EventData {
  readonly #data: (bytes: Uint8Array, start: number, end: number) => void
  readonly #eventEnds: () => void
  /** Bytes of `data:` that the current line begins with; -1: it is another line. */
  #matched = 0
  #isEmptyLine = true
  #afterReturn = false

  /**
   * @param data gets pieces of the lines of data, without the field name
   * @param eventEnds called at an empty line
   */
  constructor(data: (bytes: Uint8Array, start: number, end: number) => void, eventEnds: () => void) {
    this.#data = data
    this.#eventEnds = eventEnds
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    let at = start
    while (at < end) {
      const lineEnd = nextLineEnd(bytes, at, end)
      if (lineEnd > at) this.#readPart(bytes, at, lineEnd)
      if (lineEnd < end) this.#endLine(bytes[lineEnd]!)
      at = lineEnd + 1
    }
  }

  #readPart(bytes: Uint8Array, start: number, end: number): void {
    this.#isEmptyLine = false
    this.#afterReturn = false
    let at = start
    while (at < end && this.#matched >= 0 && this.#matched < FIELD.length) {
      this.#matched = bytes[at] === FIELD[this.#matched] ? this.#matched + 1 : -1
      at++
    }
    if (this.#matched === FIELD.length && at < end) this.#data(bytes, at, end)
  }

  #endLine(byte: number): void {
    const isSecondOfPair = byte === LF && this.#afterReturn
    this.#afterReturn = byte === CR
    if (isSecondOfPair) return
    if (this.#isEmptyLine) this.#eventEnds()
    this.#isEmptyLine = true
    this.#matched = 0
  }
}

function nextLineEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++
  return at
}
