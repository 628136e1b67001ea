import { Pace, type Steps } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'
import { mergeMatches } from '../rules/merge-matches.ts'
import { SearchableText } from '../rules/searchable-text.ts'
import type { TextRule } from '../rules/text-rule.ts'
import { BrokenArguments } from './broken-arguments.ts'
import type { GuardedText } from './guarded-text.ts'
import type { GuardedTexts } from './guarded-texts.ts'
import { ManyTexts } from './many-texts.ts'

/** What patterns found. `rules`: those that matched, in order. */
export type RuleVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly rules: readonly TextRule[] }
  | { readonly kind: 'reject'; readonly rules: readonly TextRule[]; readonly detail?: string }

const PASS: RuleVerdict = { kind: 'pass' }

/** The work for a text besides that for its characters. */
const WORK_PER_TEXT = 32
/** So many characters are copied, or looked through for a literal, in the time for one of work. */
const LOOKED_THROUGH = 16
/** The work for a share of a match. */
const WORK_PER_SHARE = 8

/** Whether a rule matches in some text, or across the texts that the model reads together. */
export function* findInTexts(rules: readonly TextRule[], texts: GuardedTexts): Steps<RuleVerdict> {
  const pace = new Pace()
  const wholes: SearchableText[] = []
  for (const group of texts.groups) wholes.push(yield* new TextGroup(group).whole(0, pace))
  for (const rule of rules) {
    for (const text of textsOf(texts, wholes)) {
      const search = text.search(rule)
      if (pace.after(WORK_PER_TEXT + text.text.length / LOOKED_THROUGH)) yield
      if (search === undefined) continue
      if ((yield* search).length > 0) return { kind: 'reject', rules: [rule] }
      if (pace.after(text.text.length)) yield
    }
  }
  return PASS
}

/** Every text by itself, and those that are read together. */
function* textsOf({ runs }: GuardedTexts, wholes: readonly SearchableText[]): Generator<SearchableText> {
  for (const { texts, isOne } of runs) if (!isOne || texts.length === 1) yield* texts
  yield* wholes
}

/**
 * Masks the matches of all rules; each rule sees the output of the previous one, and none sees its own. A match across texts is masked in each of
 * them (decision B44). A match in a text that cannot change rejects.
 */
export function* maskTexts(rules: readonly TextRule[], texts: GuardedTexts): Steps<RuleVerdict> {
  const pace = new Pace()
  const groups = texts.groups.map((group) => new TextGroup(group))
  const masked: TextRule[] = []
  for (const rule of rules) {
    const found = yield* searchAll(rule, texts, groups, masked.length, pace)
    if (found.size === 0) continue
    for (const [text, matches] of found) {
      if (pace.after(1)) yield
      const canMask = text instanceof ManyTexts ? yield* text.canMask(matches, pace) : text.canChange
      if (!canMask) return { kind: 'reject', rules: [rule], detail: 'the match is in a text that cannot change' }
    }
    for (const [text, matches] of found) {
      yield* text.mask(matches, rule.placeholder, pace)
      if (pace.after(WORK_PER_TEXT)) yield
    }
    masked.push(rule)
  }
  return masked.length === 0 ? PASS : { kind: 'mask', rules: masked }
}

/** What a rule matches of each text, in order. @param masks how many rules have changed texts so far */
function* searchAll(
  rule: TextRule,
  { runs }: GuardedTexts,
  groups: readonly TextGroup[],
  masks: number,
  pace: Pace,
): Steps<ReadonlyMap<GuardedText, readonly Match[]>> {
  const found = new Map<GuardedText, readonly Match[]>()
  for (const { texts, isOne } of runs) {
    // Pieces of a text are searched together.
    for (const text of isOne && texts.length > 1 ? [] : texts) {
      // All rules run on each of its strings (`maskBroken`).
      if (text instanceof BrokenArguments) continue
      const search = text.search(rule)
      if (pace.after(WORK_PER_TEXT + text.text.length / LOOKED_THROUGH)) yield
      if (search === undefined) continue
      const matches = yield* search
      if (matches.length > 0) found.set(text, matches)
      if (pace.after(text.text.length)) yield
    }
  }
  for (const group of groups) {
    const whole = yield* group.whole(masks, pace)
    const search = whole.search(rule)
    if (pace.after(WORK_PER_TEXT + whole.text.length / LOOKED_THROUGH)) yield
    if (search === undefined) continue
    const matches = yield* search
    if (pace.after(whole.text.length)) yield
    if (matches.length > 0) yield* addShares(found, group.texts, matches, pace)
  }
  return found
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
    const whole = parts.join('')
    this.#whole = new SearchableText(whole)
    if (pace.after(whole.length / LOOKED_THROUGH)) yield
    return this.#whole
  }
}

/** Adds to what was found in texts their shares of matches in all of them together. */
function* addShares(
  found: Map<GuardedText, readonly Match[]>,
  texts: readonly GuardedText[],
  matches: readonly Match[],
  pace: Pace,
): Steps<void> {
  let base = 0
  let next = 0
  for (const entry of texts) {
    if (pace.after(WORK_PER_TEXT)) yield
    const { length } = entry.text
    const shares: Match[] = []
    for (; next < matches.length && matches[next]!.start < base + length; next++) {
      if (pace.after(WORK_PER_SHARE)) yield
      const { start, end } = matches[next]!
      if (end > base && length > 0) shares.push({ start: Math.max(0, start - base), end: Math.min(length, end - base) })
      // The rest of it is in the next text.
      if (end > base + length) break
    }
    if (shares.length > 0) {
      const own = found.get(entry)
      found.set(entry, own === undefined ? shares : yield* mergeMatches([...own, ...shares], pace))
    }
    base += length
  }
}
