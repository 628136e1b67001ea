import { charge } from './budget.ts'
import { WEIGHTS } from './weights.ts'

/** CEL counts code points, JavaScript UTF-16 code units; they differ only for surrogates. */
const SURROGATE = /[\ud800-\udfff]/

export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length
  charge(text.length * WEIGHTS.codePoint)
  let length = 0
  for (const _ of text) length++
  return length
}

/** The UTF-16 index of a code point index. */
export function unitIndex(text: string, index: number): number {
  if (!SURROGATE.test(text)) return index
  charge(Math.min(index, text.length) * WEIGHTS.codePoint)
  let unit = 0
  for (let i = 0; i < index && unit < text.length; i++) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
  return unit
}

export function codePointSlice(text: string, start: number, end: number): string {
  return SURROGATE.test(text) ? text.slice(unitIndex(text, start), unitIndex(text, end)) : text.slice(start, end)
}

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** @returns undefined if the bytes are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}
