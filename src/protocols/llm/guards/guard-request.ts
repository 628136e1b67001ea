import type { Refusal } from '#exchange/outcome.ts'
import { findMember, type Members } from '../json/scan-members.ts'
import { applySplices, encode, type Splice } from '../json/splice.ts'
import { readTextTree, textOf } from '../json/text-tree.ts'
import { PROMPT_MEMBERS } from '../request/prompt-members.ts'
import type { ClientFormat } from '../request/route-type.ts'
import type { RegexGuard } from './compile-guards.ts'
import { maskRun, runMatches } from './mask-run.ts'
import { collectTexts, type MaskableText, type PromptTexts } from './prompt-texts.ts'

/** A text with a malformed escape at that byte: it cannot be checked. */
export interface UnreadableText {
  readonly unreadableAt: number
}

/**
 * Runs the guards in order on the texts of a request. Each guard sees the output of the previous ones, and the first rejection ends the run
 * (decision B51). Masks change texts in place: tool calls, images, names and ids keep their bytes (decision B44).
 * @returns the body to forward, the refusal of a guard, or the position of an unreadable text
 */
export function guardRequest(
  guards: readonly RegexGuard[],
  type: ClientFormat,
  members: Members,
): Uint8Array | Refusal | UnreadableText {
  const places = findTexts(type, members)
  const fixed = readTexts(members.bytes, places.fixed)
  if (!Array.isArray(fixed)) return fixed
  const runs: { places: readonly MaskableText[]; before: readonly string[]; parts: readonly string[] }[] = []
  for (const run of places.runs) {
    const parts = readTexts(members.bytes, run)
    if (!Array.isArray(parts)) return parts
    runs.push({ places: run, before: parts, parts })
  }

  const checked = fixed.flatMap(argumentTexts)
  for (const { rules, refusal } of guards) {
    if (refusal === undefined) {
      for (const run of runs) run.parts = maskRun(rules, run.parts)
    } else if (
      runs.some(({ parts }) => runMatches(rules, parts)) ||
      checked.some((text) => runMatches(rules, [text]))
    ) {
      return refusal
    }
  }
  return applySplices(members.bytes, runs.flatMap(toSplices))
}

function findTexts(type: ClientFormat, members: Members): PromptTexts {
  const texts: PromptTexts = { bytes: members.bytes, runs: [], fixed: [] }
  for (const key of PROMPT_MEMBERS[type]) {
    const index = findMember(members, key)
    if (index >= 0) collectTexts(readTextTree(members.bytes, members.offsets[4 * index + 2]!), texts)
  }
  return texts
}

function readTexts(bytes: Uint8Array, places: readonly MaskableText[]): string[] | UnreadableText {
  const texts: string[] = []
  for (const place of places) {
    const text = textOf(bytes, place)
    if (text === undefined) return { unreadableAt: place.start }
    texts.push(text)
  }
  return texts
}

/** Arguments are usually JSON in a string. The strings inside and the whole text are checked. */
function argumentTexts(text: string): string[] {
  const texts = [text]
  try {
    collectStrings(JSON.parse(text), texts)
  } catch {
    // Not JSON: only the whole text is checked.
  }
  return texts
}

function collectStrings(value: unknown, into: string[]): void {
  if (typeof value === 'string') into.push(value)
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) collectStrings(member, into)
}

function toSplices(run: {
  readonly places: readonly MaskableText[]
  readonly before: readonly string[]
  readonly parts: readonly string[]
}): Splice[] {
  const splices: Splice[] = []
  run.parts.forEach((text, index) => {
    if (text === run.before[index]) return
    const { start, end } = run.places[index]!
    splices.push({ start, end, text: encode(JSON.stringify(text)) })
  })
  return splices
}
