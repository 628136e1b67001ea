import type { JsonChildren, JsonValue } from './json-document.ts'
import { decodeText } from './native.ts'

/** Of a longer text, so many bytes are written at a time. */
const PIECE_BYTES = 65_536

/** The text of a value without line ends, which are never in a string and would end the data of an event; empty if there is none. */
export function textOf(value: JsonValue | undefined): string {
  return value === undefined ? '' : inOneLine(value.json)
}

/**
 * The text of an object with other values of those members that it has and that are not null. What is no object stays as it is.
 * @param changes JSON text by name; undefined: without this member, null or not
 */
export function withMembers(value: JsonValue, changes: Readonly<Record<string, string | undefined>>): string {
  return value.kind === 'object' ? `{${membersOf(value, changes)}}` : textOf(value)
}

/** The same without its braces; empty if it is no object. */
export function membersOf(object: JsonValue, changes: Readonly<Record<string, string | undefined>>): string {
  if (object.kind !== 'object') return ''
  const members: string[] = []
  const children = object.children()
  for (let value = children.next(); value !== undefined; value = children.next()) {
    const { name } = children
    const change = Object.hasOwn(changes, name) ? changes[name] : textOf(value)
    const text = change !== undefined && value.kind === 'null' ? 'null' : change
    if (text !== undefined) members.push(`${keyText(object, children)}:${text}`)
  }
  return members.join(',')
}

/** The JSON text of the name of the member that `children` returned last, however long it is. */
export function keyText({ json, place }: JsonValue, { key: { start, end } }: JsonChildren): string {
  return decodeText(json, start - place, end - place)
}

/** Texts and values behind each other, of which long ones are not copied. */
export function* inPieces(parts: readonly (string | JsonValue)[]): Generator<string | Uint8Array> {
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string' || part.json.length <= PIECE_BYTES) {
      text += typeof part === 'string' ? part : textOf(part)
      continue
    }
    yield text
    text = ''
    for (let at = 0; at < part.json.length; at += PIECE_BYTES) yield withoutLineEnds(part.json, at)
  }
  yield text
}

function withoutLineEnds(json: Uint8Array, at: number): Uint8Array {
  const piece = json.subarray(at, at + PIECE_BYTES)
  if (!piece.includes(0x0a) && !piece.includes(0x0d)) return piece
  return piece.map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte))
}

function inOneLine(json: Uint8Array): string {
  return decodeText(json).replace(/[\r\n]+/g, ' ')
}
