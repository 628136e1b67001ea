import { Pace, type Steps } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'
import { SearchableText } from '../rules/searchable-text.ts'
import type { TextRule } from '../rules/text-rule.ts'
import type { GuardedRun, GuardedTexts } from './guarded-texts.ts'
import { ManyTexts } from './many-texts.ts'

/** What patterns found. `rules`: those that matched, in order. */
export type RuleVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly rules: readonly TextRule[] }
  | { readonly kind: 'reject'; readonly rules: readonly TextRule[]; readonly detail?: string }

const PASS: RuleVerdict = { kind: 'pass' }

/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 32
/** How many characters are copied, or searched for a literal, in the time of one unit of work. */
const LOOKED_THROUGH = 16

/** Whether a rule matches in a text, or across the parts of a message. */
export function* findInTexts(rules: readonly TextRule[], { runs }: Pick<GuardedTexts, 'runs'>): Steps<RuleVerdict> {
  const pace = new Pace()
  const messages = runs.flatMap(joinedText)
  for (const rule of rules) {
    for (const { texts } of runs) {
      for (const text of texts) {
        if ((yield* search(rule, text, pace)).length > 0) return { kind: 'reject', rules: [rule] }
      }
    }
    for (const message of messages) {
      if ((yield* search(rule, message.text, pace)).length > 0) return { kind: 'reject', rules: [rule] }
    }
  }
  return PASS
}

/**
 * Masks the matches of all rules, text by text; each rule sees the output of the previous one, but never its own. A match in a text that cannot
 * change rejects, and so does a match across the parts of a message after each part has been masked (decision B44).
 */
export function* maskTexts(rules: readonly TextRule[], { runs }: Pick<GuardedTexts, 'runs'>): Steps<RuleVerdict> {
  const pace = new Pace()
  const masked: TextRule[] = []
  let messages = runs.flatMap(joinedText)
  for (const rule of rules) {
    let hasMatched = false
    for (const { texts } of runs) {
      for (const text of texts) {
        const matches = yield* search(rule, text, pace)
        if (matches.length === 0) continue
        const canMask = text instanceof ManyTexts ? yield* text.canMask(matches, pace) : text.canChange
        if (!canMask) return { kind: 'reject', rules: [rule], detail: 'the match is in a text that cannot change' }
        yield* text.mask(matches, rule.placeholder, pace)
        hasMatched = true
      }
    }
    if (hasMatched) {
      masked.push(rule)
      messages = runs.flatMap(joinedText)
    }
    for (const message of messages) {
      const matches = yield* search(rule, message.text, pace)
      if (isAcross(matches, message)) {
        return { kind: 'reject', rules: [rule], detail: 'the match is across parts of a message' }
      }
    }
  }
  return masked.length === 0 ? PASS : { kind: 'mask', rules: masked }
}

/** The parts of a message as one text. */
interface JoinedParts {
  readonly text: SearchableText
  /** Where a part ends and the next one begins, ascending. */
  readonly boundaries: readonly number[]
}

/** Empty: the message has one part. */
function joinedText({ joins, texts }: GuardedRun): readonly JoinedParts[] {
  if (!joins || texts.length < 2) return []
  let end = 0
  const boundaries = texts.map(({ text }) => (end += text.length))
  return [{ text: new SearchableText(texts.map(({ text }) => text).join('')), boundaries }]
}

/** @param matches ascending */
function isAcross(matches: readonly Match[], { boundaries }: JoinedParts): boolean {
  let next = 0
  return matches.some(({ start, end }) => {
    while (boundaries[next]! <= start) next++
    return boundaries[next]! < end
  })
}

function* search(rule: TextRule, text: SearchableText, pace: Pace): Steps<readonly Match[]> {
  const searching = text.search(rule)
  if (pace.after(WORK_PER_TEXT + text.text.length / LOOKED_THROUGH)) yield
  if (searching === undefined) return []
  const matches = yield* searching
  if (pace.after(text.text.length)) yield
  return matches
}
