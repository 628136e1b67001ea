import { Pace, type Steps } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'
import type { GuardedText, GuardedTexts } from './guarded-texts.ts'
import { replaceMatches } from './rules/mask-text.ts'
import { SearchableText } from './rules/searchable-text.ts'
import type { TextRule } from './rules/text-rule.ts'

/** What patterns found. `rule`: the label of the first one that matched. */
export type RuleVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly rule: string }
  | { readonly kind: 'reject'; readonly rule: string }

const PASS: RuleVerdict = { kind: 'pass' }

/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 32

/** Whether a rule matches in some text, or across the texts that the model reads together. */
export function* findInTexts(rules: readonly TextRule[], texts: GuardedTexts): Steps<RuleVerdict> {
  const pace = new Pace()
  const wholes: SearchableText[] = []
  for (const group of yield* groupTexts(texts, pace)) wholes.push(yield* group.whole(0, pace))
  for (const rule of rules) {
    for (const text of textsOf(texts, wholes)) {
      if (pace.after(WORK_PER_TEXT)) yield
      const search = text.search(rule)
      if (search === undefined) continue
      if ((yield* search).length > 0) return { kind: 'reject', rule: rule.label }
      if (pace.after(text.text.length)) yield
    }
  }
  return PASS
}

/** Every text by itself, and those that the model reads together. */
function* textsOf({ runs }: GuardedTexts, wholes: readonly SearchableText[]): Generator<SearchableText> {
  for (const { texts } of runs) yield* texts
  yield* wholes
}

/**
 * Masks the matches of all rules; each rule sees the output of the previous one. A match across texts is masked in each of them (decision
 * B44). A match in a text that cannot change rejects.
 */
export function* maskTexts(rules: readonly TextRule[], texts: GuardedTexts): Steps<RuleVerdict> {
  const pace = new Pace()
  const groups = yield* groupTexts(texts, pace)
  let verdict = PASS
  let masks = 0
  for (const rule of rules) {
    const reject: RuleVerdict = { kind: 'reject', rule: rule.label }
    const mask: RuleVerdict = { kind: 'mask', rule: rule.label }
    for (const run of texts.runs) {
      for (const text of run.texts) {
        if (pace.after(WORK_PER_TEXT)) yield
        const search = text.search(rule)
        if (search === undefined) continue
        const { length } = text.text
        const matches = yield* search
        if (pace.after(length)) yield
        if (matches.length === 0) continue
        if (!text.canChange) return reject
        text.text = yield* replaceMatches(text.text, matches, rule.placeholder, pace)
        verdict = mask
        masks++
      }
    }
    for (const group of groups) {
      if (pace.after(WORK_PER_TEXT)) yield
      const whole = yield* group.whole(masks, pace)
      const search = whole.search(rule)
      if (search === undefined) continue
      const matches = yield* search
      if (pace.after(whole.text.length)) yield
      if (matches.length === 0) continue
      if (!(yield* maskAcross(group.texts, matches, rule.placeholder, pace))) return reject
      verdict = mask
      masks++
    }
  }
  return verdict
}

/** Texts that the model reads together. */
class TextGroup {
  readonly texts: readonly GuardedText[]
  #whole: SearchableText | undefined
  #masks = 0

  constructor(texts: readonly GuardedText[]) {
    this.texts = texts
  }

  /** The texts as one. Yields between them. @param masks how many masks have changed texts so far */
  *whole(masks: number, pace: Pace): Steps<SearchableText> {
    if (this.#whole !== undefined && this.#masks === masks) return this.#whole
    const parts: string[] = []
    let part: string[] = []
    for (const { text } of this.texts) {
      part.push(text)
      if (!pace.after(text.length)) continue
      parts.push(part.join(''))
      part = []
      yield
    }
    this.#masks = masks
    parts.push(part.join(''))
    this.#whole = new SearchableText(parts.join(''))
    return this.#whole
  }
}

/** The texts of each message, and those of neighbouring messages of one role. */
function* groupTexts({ runs, groups }: GuardedTexts, pace: Pace): Steps<readonly TextGroup[]> {
  const found: TextGroup[] = []
  for (const { texts } of runs) {
    if (pace.after(texts.length * WORK_PER_TEXT)) yield
    if (texts.length < 2) continue
    const joined = texts.filter(({ joins }) => joins)
    if (joined.length > 1) found.push(new TextGroup(joined))
  }
  for (const group of groups) found.push(new TextGroup(group))
  return found
}

/** @returns false if a text with a share of a match cannot change */
function* maskAcross(
  texts: readonly GuardedText[],
  matches: readonly Match[],
  placeholder: string,
  pace: Pace,
): Steps<boolean> {
  let base = 0
  let next = 0
  for (const entry of texts) {
    const { length } = entry.text
    const shares: Match[] = []
    for (; next < matches.length && matches[next]!.start < base + length; next++) {
      const { start, end } = matches[next]!
      if (end > base && length > 0) shares.push({ start: Math.max(0, start - base), end: Math.min(length, end - base) })
      // The rest of it is in the next text.
      if (end > base + length) break
    }
    if (shares.length > 0) {
      if (!entry.canChange) return false
      entry.text = yield* replaceMatches(entry.text, shares, placeholder, pace)
    }
    base += length
    if (pace.after(WORK_PER_TEXT + (shares.length > 0 ? length : 0))) yield
  }
  return true
}
