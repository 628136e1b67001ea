import type { GuardedRun, GuardedText, GuardedTexts } from './guarded-texts.ts'
import type { GuardedMessage } from './services/service.ts'

/** Between the texts of a message, as services see it. */
const SEPARATOR = ' '

/** A text that a mask covers completely together with an earlier one. */
const COVERED = '<masked>'

/** The texts of a body as services see them: one message for each run with text. */
export class ServiceContents {
  readonly messages: readonly GuardedMessage[]
  readonly #runs: readonly GuardedRun[]

  constructor(texts: GuardedTexts) {
    this.#runs = texts.runs.filter(({ texts }) => texts.some(({ text }) => text !== ''))
    this.messages = this.#runs.map(({ role, texts }) => ({ role, content: join(texts) }))
  }

  /**
   * Writes masked contents into the texts: only what differs changes.
   * @returns false if the mask touches a text that cannot change
   */
  mask(contents: readonly string[]): boolean {
    return this.#runs.every(({ texts }, index) => maskJoined(texts, contents[index]!))
  }
}

function join(texts: readonly GuardedText[]): string {
  return texts.map(({ text }) => text).join(SEPARATOR)
}

/** A text that a mask of the joined texts can change. */
export type ChangeableText = Pick<GuardedText, 'text' | 'canChange'>

/**
 * Changes texts so that they are `after` when joined with the separator. The boundaries between texts that can be found again in it stay where
 * they are, so that each text keeps its own masks.
 * @returns false if a text with a share cannot change
 */
export function maskJoined(texts: readonly ChangeableText[], after: string): boolean {
  const before = texts.map(({ text }) => text).join(SEPARATOR)
  if (before === after) return true
  let first = 0
  let from = 0
  let at = 0
  for (const [index, { text }] of texts.entries()) {
    if (index === texts.length - 1) break
    at += text.length
    const found = findBoundary(before, at, text.length, texts[index + 1]!.text.length, after)
    at += SEPARATOR.length
    if (found < from) continue
    if (!spreadMask(texts.slice(first, index + 1), SEPARATOR, after.slice(from, found))) return false
    first = index + 1
    from = found + SEPARATOR.length
  }
  return spreadMask(texts.slice(first), SEPARATOR, after.slice(from))
}

/** How much text on both sides of a boundary, or on one, identifies it. */
const CONTEXTS = [24, 12, 6, 3].flatMap((length) => [
  { left: length, right: length },
  { left: length, right: 0 },
  { left: 0, right: length },
])

/** Where the boundary at `at` is in the masked text: by text around it that occurs once in both; -1 if there is none. */
function findBoundary(before: string, at: number, leftLength: number, rightLength: number, after: string): number {
  for (const { left, right } of CONTEXTS) {
    const from = at - Math.min(left, leftLength)
    const context = before.slice(from, at + SEPARATOR.length + Math.min(right, rightLength))
    const found = onlyIndexOf(after, context)
    if (found >= 0 && onlyIndexOf(before, context) >= 0) return found + (at - from)
  }
  return -1
}

function onlyIndexOf(text: string, part: string): number {
  const index = text.indexOf(part)
  return index >= 0 && text.indexOf(part, index + 1) < 0 ? index : -1
}

/**
 * Changes texts so that they are `after` when joined. What replaces the part that differs goes into the first text with a share of it.
 * @returns false if a text with a share cannot change
 */
export function spreadMask(texts: readonly ChangeableText[], separator: string, after: string): boolean {
  const before = texts.map(({ text }) => text).join(separator)
  if (before === after) return true
  const start = commonStart(before, after)
  const end = before.length - commonEnd(before, after, start)
  const replacement = after.slice(start, after.length - (before.length - end))
  let base = 0
  let isFirst = true
  for (const entry of texts) {
    const { length } = entry.text
    const from = Math.max(0, start - base)
    const to = Math.min(length, end - base)
    // What is only inserted belongs to the text that ends or goes on there.
    const hasShare = start === end ? start >= base && start <= base + length && isFirst : to > from
    if (hasShare) {
      if (!entry.canChange) return false
      const kept = entry.text.slice(0, from) + (isFirst ? replacement : '') + entry.text.slice(Math.max(from, to))
      entry.text = kept === '' ? COVERED : kept
      isFirst = false
    }
    base += length + separator.length
  }
  // Only a separator differs: no text has a share of it.
  return !isFirst
}

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++
  return length > 0 && isHighSurrogate(one.charCodeAt(length - 1)) ? length - 1 : length
}

function commonEnd(one: string, other: string, start: number): number {
  const most = Math.min(one.length, other.length) - start
  let length = 0
  while (length < most && one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)) {
    length++
  }
  return length > 0 && isLowSurrogate(one.charCodeAt(one.length - length)) ? length - 1 : length
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
