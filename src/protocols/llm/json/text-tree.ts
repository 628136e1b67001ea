import { foldCase } from '#base/fold-case.ts'
import { parseJson } from '#base/parse-json.ts'
import { decodeText } from './native.ts'
import { skipSpace, skipString, skipValue } from './skip-value.ts'

/** A JSON value with its position in the bytes; for values without text, only the position. */
export type TextNode =
  | { readonly kind: 'string'; readonly start: number; readonly end: number }
  | { readonly kind: 'array'; readonly items: readonly TextNode[] }
  /** Keys in lower case. */
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: TextNode])[] }
  | { readonly kind: 'other' }

const OTHER: TextNode = { kind: 'other' }

/**
 * The strings inside a scanned value, with their positions. All members with the same name are included, in any letter case, because it is
 * unknown which of them a provider reads.
 */
export function readTextTree(bytes: Uint8Array, start: number): TextNode {
  return readNode(bytes, start).node
}

/** The text of a string node; undefined if it has malformed escapes. */
export function textOf(bytes: Uint8Array, { start, end }: { start: number; end: number }): string | undefined {
  try {
    return parseJson(decodeText(bytes, start, end)) as string
  } catch {
    return undefined
  }
}

interface Read {
  readonly node: TextNode
  readonly end: number
}

function readNode(bytes: Uint8Array, start: number): Read {
  switch (bytes[start]) {
    case 0x22: {
      const end = skipString(bytes, start + 1)
      return { node: { kind: 'string', start, end }, end }
    }
    case 0x5b:
      return readArray(bytes, start)
    case 0x7b:
      return readObject(bytes, start)
    default:
      return { node: OTHER, end: skipValue(bytes, start) }
  }
}

function readArray(bytes: Uint8Array, start: number): Read {
  const items: TextNode[] = []
  let at = skipSpace(bytes, start + 1)
  while (bytes[at] !== 0x5d) {
    const { node, end } = readNode(bytes, at)
    items.push(node)
    at = skipSpace(bytes, end)
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  return { node: { kind: 'array', items }, end: at + 1 }
}

function readObject(bytes: Uint8Array, start: number): Read {
  const members: [string, TextNode][] = []
  let at = skipSpace(bytes, start + 1)
  while (bytes[at] !== 0x7d) {
    const keyEnd = skipString(bytes, at + 1)
    const key = textOf(bytes, { start: at, end: keyEnd }) ?? ''
    at = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)
    const { node, end } = readNode(bytes, at)
    members.push([foldCase(key), node])
    at = skipSpace(bytes, end)
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  return { node: { kind: 'object', members }, end: at + 1 }
}
