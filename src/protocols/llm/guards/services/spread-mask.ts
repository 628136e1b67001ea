import type { Pace, Steps } from '#base/in-slices.ts'

/** How texts form one. */
export interface Joining {
  readonly separator: string
  /** Replaces a text that a mask covers completely, if the mask began in an earlier text. */
  readonly covered: string
}

/** A text that a mask of the joined texts can change. */
export interface ChangeableText {
  text: string
  readonly canChange: boolean
}

/**
 * Changes texts so that they are `after` when joined. The replacement goes into the first text that the changed range touches.
 * @returns false if a text in the changed range cannot change
 */
export function* spreadMask(
  texts: readonly ChangeableText[],
  { separator, covered }: Joining,
  after: string,
  pace: Pace,
): Steps<boolean> {
  const before = yield* joinInSteps(texts, separator, pace)
  if (before === after) return true
  const start = commonStart(before, after)
  const end = before.length - commonEnd(before, after, start)
  const replacement = after.slice(start, after.length - (before.length - end))
  let base = 0
  let isFirst = true
  for (const entry of texts) {
    if (pace.after(WORK_PER_TEXT)) yield
    const { length } = entry.text
    const from = Math.max(0, start - base)
    const to = Math.min(length, end - base)
    // An insertion belongs to the first text that contains its position.
    const hasShare = start === end ? start >= base && start <= base + length && isFirst : to > from
    if (hasShare) {
      if (!entry.canChange) return false
      const kept = entry.text.slice(0, from) + (isFirst ? replacement : '') + entry.text.slice(Math.max(from, to))
      entry.text = kept === '' ? covered : kept
      isFirst = false
    }
    base += length + separator.length
  }
  // Only a separator differs: the changed range touches no text.
  return !isFirst
}

/** The work for a text that is joined with others. */
const WORK_PER_TEXT = 4

/** Yields between texts. */
export function* joinInSteps(
  texts: readonly { readonly text: string }[],
  separator: string,
  pace: Pace,
): Steps<string> {
  const parts: string[] = []
  for (const { text } of texts) {
    parts.push(text)
    if (pace.after(WORK_PER_TEXT)) yield
  }
  return parts.join(separator)
}

/** Long texts are compared in parts, which the runtime does much faster than a loop. */
const PART = 4096

function commonStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length + PART <= most && one.slice(length, length + PART) === other.slice(length, length + PART))
    length += PART
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++
  return length
}

/** @param start so much is common before */
function commonEnd(one: string, other: string, start: number): number {
  const most = Math.min(one.length, other.length) - start
  let length = 0
  const part = (text: string) => text.slice(text.length - length - PART, text.length - length)
  while (length + PART <= most && part(one) === part(other)) length += PART
  while (length < most && one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)) {
    length++
  }
  return length
}
