import { decodeText } from '../../json/native.ts'
import { encode } from '../../json/splice.ts'
import type { SseBlock } from '../../sse/sse-block.ts'

/** Names that an event may have besides the type in its data. */
const NAMES: ReadonlySet<string> = new Set(['message', 'error', 'done'])

const LINE_FEED = 0x0a
const SPACE = 0x20

/** Whether the data between two positions are the mark of the end. */
export function isEndMark(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start < 16 && decodeText(bytes, start, end).trim() === '[DONE]'
}

/**
 * The event with its name and its data in one line, if it has anything else: several data lines, or text in a comment, an id, an unknown
 * field or a name of its own.
 * @param type in its data; empty: it has none
 * @returns undefined if nothing changes
 */
export function cleanEvent(block: SseBlock, type: string): Uint8Array | undefined {
  const { hasOtherLines, isSplit } = block
  // Most names equal the type: they are compared as bytes, and not decoded.
  const isKnown = block.isNamed(type) || isKnownName(block.name, type)
  return isKnown && !hasOtherLines && !isSplit ? undefined : oneLine(isKnown ? block.name : '', block.data)
}

function isKnownName(name: string, type: string): boolean {
  return name === '' || name === type || NAMES.has(name)
}

/** An event with its data in one line: the line feeds between lines are white space of its JSON. */
function oneLine(name: string, data: Uint8Array): Uint8Array {
  const head = encode(name === '' ? 'data: ' : `event: ${name}\ndata: `)
  const event = new Uint8Array(head.length + data.length + 2).fill(LINE_FEED)
  event.set(head)
  event.set(
    data.map((byte) => (byte === LINE_FEED ? SPACE : byte)),
    head.length,
  )
  return event
}
