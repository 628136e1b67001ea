import type { Match } from '#base/pattern/text-scanner.ts'
import { type GuardedText, type GuardedTexts, TEXTS_PER_STEP } from './guarded-texts.ts'
import type { TextRule } from './rules/text-rule.ts'

/** What patterns found. `rule`: the label of the first one that matched. */
export type RuleVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly rule: string }
  | { readonly kind: 'reject'; readonly rule: string }

const PASS: RuleVerdict = { kind: 'pass' }

/** Whether a rule matches in some text, or across the texts that the model reads together. Yields between texts. */
export function* findInTexts(rules: readonly TextRule[], texts: GuardedTexts): Generator<undefined, RuleVerdict> {
  let checked = 0
  for (const rule of rules) {
    for (const text of textsOf(texts)) {
      if (++checked % TEXTS_PER_STEP === 0) yield
      if ((yield* rule.findInSteps(text)).length > 0) return { kind: 'reject', rule: rule.label }
    }
  }
  return PASS
}

/**
 * Masks the matches of all rules; each rule sees the output of the previous one. A match across texts is masked in each of them (decision
 * B44). A match in a text that cannot change rejects.
 */
export function* maskTexts(
  rules: readonly TextRule[],
  { runs, groups }: GuardedTexts,
): Generator<undefined, RuleVerdict> {
  let verdict = PASS
  let checked = 0
  for (const rule of rules) {
    const reject: RuleVerdict = { kind: 'reject', rule: rule.label }
    for (const { texts } of runs) {
      for (const text of texts) {
        if (++checked % TEXTS_PER_STEP === 0) yield
        const matches = yield* rule.findInSteps(text.text)
        if (matches.length === 0) continue
        if (!text.canChange) return reject
        text.text = replace(text.text, matches, rule.placeholder)
        verdict = { kind: 'mask', rule: rule.label }
      }
    }
    for (const joined of joinedTexts(runs, groups)) {
      if (++checked % TEXTS_PER_STEP === 0) yield
      const matches = yield* rule.findInSteps(join(joined))
      if (matches.length === 0) continue
      if (!maskAcross(joined, matches, rule.placeholder)) return reject
      verdict = { kind: 'mask', rule: rule.label }
    }
  }
  return verdict
}

/** Every text by itself, and those that the model reads together. */
function* textsOf({ runs, groups }: GuardedTexts): Generator<string> {
  for (const { texts } of runs) for (const { text } of texts) yield text
  for (const joined of joinedTexts(runs, groups)) yield join(joined)
}

/** The texts of each message, and those of neighbouring messages of one role. */
function* joinedTexts(runs: GuardedTexts['runs'], groups: GuardedTexts['groups']): Generator<readonly GuardedText[]> {
  for (const { texts } of runs) {
    const joined = texts.filter(({ joins }) => joins)
    if (joined.length > 1) yield joined
  }
  yield* groups
}

function join(texts: readonly GuardedText[]): string {
  return texts.map(({ text }) => text).join('')
}

function replace(text: string, matches: readonly Match[], placeholder: string): string {
  let out = ''
  let from = 0
  for (const { start, end } of matches) {
    out += text.slice(from, start) + placeholder
    from = end
  }
  return out + text.slice(from)
}

/** @returns false if a text with a share of a match cannot change */
function maskAcross(texts: readonly GuardedText[], matches: readonly Match[], placeholder: string): boolean {
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
      entry.text = replace(entry.text, shares, placeholder)
    }
    base += length
  }
  return true
}
